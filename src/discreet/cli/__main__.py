"""`python -m discreet.cli`: the same as the command `discreet`."""

from discreet.cli.application import main

main()
