"""What pyproject.toml has no words for: in a wheel, `assets` lies within the package.

All else about the package stands in pyproject.toml, which files of the assets go along too.
"""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["xtc_viz*"]), "xtc_viz._assets"],
    package_dir={"xtc_viz._assets": "assets"},
)
