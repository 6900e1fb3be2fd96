"""The entry of a Space and of `python app.py`: the command `xtc-viz` (`xtc_viz.cli`)."""

from xtc_viz.cli import main

if __name__ == "__main__":
    main()
