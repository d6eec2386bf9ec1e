"""temporary"""
import re
import numpy as np
from collections import Counter
from naively.core.kernels import finish_rows, scatter
WORD = re.compile(r"(?u)\b\w\w+\b")
class Vocabulary:
    def __init__(self, words=()):
        self.index = {}
        self.add(list(words))
    def __len__(self): return len(self.index)
    def words(self): return list(self.index)
    def find(self, words): return np.array([self.index.get(w, -1) for w in words], np.int64)
    def add(self, words): return np.array([self.index.setdefault(w, len(self.index)) for w in words], np.int64)
    def copy(self): return Vocabulary(self.index)
    def _counts(self, text, presence):
        c = Counter(WORD.findall(text.lower()))
        return dict.fromkeys(c, 1) if presence else c
    def count(self, texts, y, w, k, presence):
        cell, value, weight = [], [], []
        for i, t in enumerate(texts):
            if t is None: continue
            for word, n in self._counts(t, presence).items():
                cell.append(self.index.setdefault(word, len(self.index)) * k + int(y[i])); value.append(n); weight.append(1.0 if w is None else w[i])
        return scatter(np.array(cell, np.int64), np.array(value, float), np.array(weight) if w is not None else None, (len(self), k))
    def encode(self, texts, presence):
        indptr, indices, data = [0], [], []
        for t in texts:
            if t is not None:
                items = sorted((self.index[w], n) for w, n in self._counts(t, presence).items() if w in self.index)
                indices += [i for i, _ in items]; data += [n for _, n in items]
            indptr.append(len(indices))
        return np.array(indptr, np.int64), np.array(indices, np.int32), np.array(data, float)
    def score(self, texts, slope, start, presence, finish, log_prior):
        from naively.core.kernels import score_csr
        return score_csr(*self.encode(texts, presence), slope, start, finish, log_prior)
    def to_arrays(self):
        b = [w.encode("utf-8", "surrogatepass") for w in self.index]
        return np.frombuffer(b"".join(b), np.uint8), np.cumsum([len(x) for x in b], dtype=np.int64)
    @classmethod
    def from_arrays(cls, utf8, ends):
        raw = utf8.tobytes(); starts = [0, *ends[:-1].tolist()] if len(ends) else []
        return cls([raw[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist())])
