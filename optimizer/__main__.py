"""`python -m optimizer` is the `optimizer` command."""

from optimizer.cli import main

if __name__ == "__main__":
    main()
