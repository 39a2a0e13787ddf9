"""VeriVul: vulnerable programs and their safe twins from CVE-fixing commits, labelled by a model checker."""
