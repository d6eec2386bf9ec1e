# A model behind HTTP, from this copy of the repository (docs/how-to/serve.md):
#   docker build -t naively-serve .
#   docker run -p 127.0.0.1:8000:8000 -v "$PWD/models:/models:ro" naively-serve
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++
COPY . /source
RUN pip wheel --no-cache-dir --wheel-dir /wheels "/source[serve]"

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "naively[serve]"
RUN useradd --system --no-create-home naively
USER naively
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["naively", "--log-format", "json", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/models/model.naively"]
