"""What scikit-learn asks of an estimator, without its base classes, whose import takes a second.

Its tools go by what an estimator can do: options that are read and set, tags, requests for what
goes to which method beside the rows, and a score. What is of its own classes (the tags, the
requests, the picture in a notebook) is made where scikit-learn asks for it, and imported there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

from naively.messages import shortened
from naively.options import no_class_weight

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest

WIDTH = 80  # characters of a line, above which each option has one of its own
MOST = 1000  # characters of a repr
ROWS = {"self", "X", "y"}  # what a method takes that is nothing beside the rows
ROUTED = ("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "score")


def requests_of(verb: str) -> Callable[..., Any]:
    """Return the method that says what metadata routing hands to another one beside the rows."""

    def request(self: Estimator, **requests: bool | str | None) -> Estimator:
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable it "
                "using sklearn.set_config(enable_metadata_routing=True)."
            )
        known = beside(type(self), verb)
        for name in requests:
            if name not in known:
                raise TypeError(f"There is no {name!r} of {verb} to request; there are {known}.")
        routing = self.get_metadata_routing()
        for name, asked in requests.items():
            getattr(routing, verb).add_request(param=name, alias=asked)
        self._metadata_request = routing
        return self

    request.__name__ = f"set_{verb}_request"
    request.__doc__ = f"""Say what metadata routing hands to ``{verb}`` beside the rows.

        Parameters
        ----------
        **requests : bool, None or str
            True or False for each parameter: whether it is handed over if it is given; None, that
            it must not be given; or the name that it is given by.

        Returns
        -------
        self : estimator
            With these requests.
        """
    return request


def beside(kind: type, verb: str) -> list[str]:
    """Return what a method of a class takes beside the rows."""
    return [name for name in signature(getattr(kind, verb)).parameters if name not in ROWS]


class Estimator(ABC):
    """A classifier in the eyes of scikit-learn, which it becomes by its options and its tags."""

    takes: ClassVar[tuple[str, ...]] = ()  # its input tags: what rows may be
    poor_score: ClassVar[bool] = False  # whether little accuracy is to be expected of any numbers
    _metadata_request: MetadataRequest  # by this name a clone gets it too

    set_fit_request = requests_of("fit")
    set_partial_fit_request = requests_of("partial_fit")
    set_predict_request = requests_of("predict")
    set_predict_proba_request = requests_of("predict_proba")
    set_predict_log_proba_request = requests_of("predict_log_proba")
    set_score_request = requests_of("score")

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool: ...

    @classmethod
    def _options(cls) -> dict[str, Parameter]:
        """Return the options of the constructor, in the order of their names."""
        return dict(sorted(signature(cls).parameters.items()))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  (as it is called)
        """Return the options by their names.

        Parameters
        ----------
        deep : bool, default True
            Has no effect, as no option is an estimator with options of its own.

        Returns
        -------
        params : dict
            The value of each option.
        """
        return {name: getattr(self, name) for name in self._options()}

    def set_params(self, **params: Any) -> Self:
        """Set options, as scikit-learn does; a ValueError if there is none of a name.

        Parameters
        ----------
        **params
            Options by their names.

        Returns
        -------
        self : estimator
            With these options; what was learned stays as it is.
        """
        known = list(self._options())
        if "class_weight" in params:
            raise ValueError(no_class_weight(type(self)))
        for name in params:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: "
                    f"{known!r}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Return the constructor with the options that were set."""
        values = {name: repr(getattr(self, name)) for name in self._options()}
        defaults = {name: repr(of.default) for name, of in self._options().items()}
        given = [f"{name}={of}" for name, of in values.items() if of != defaults[name]]
        name = type(self).__name__
        line = f"{name}({', '.join(given)})"
        if len(line) > WIDTH:
            line = f"{name}({(',' + chr(10) + ' ' * (len(name) + 1)).join(given)})"
        return shortened(line, MOST)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            transformer_tags=None,
            regressor_tags=None,
            classifier_tags=ClassifierTags(poor_score=self.poor_score),
            input_tags=InputTags(**dict.fromkeys(self.takes, True)),
        )

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what metadata routing hands to each method beside the rows, if it is given."""
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if "_metadata_request" in self.__dict__:
            return get_routing_for_object(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        for verb in ROUTED:
            for name in beside(type(self), verb):
                getattr(routing, verb).add_request(param=name, alias=None)
        return routing
