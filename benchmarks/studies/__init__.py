"""How good rankers become: a script for each study, which writes its page."""
