"""How good rankers become: a script for each study, whose page is in docs/studies."""
