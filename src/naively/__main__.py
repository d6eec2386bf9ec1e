"""The command line: ``naively`` and ``python -m naively``."""

from naively.cli.app import main

if __name__ == "__main__":
    main()
