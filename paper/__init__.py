"""The paper's figures and tables computed anew, each beside what the paper says: ``make paper``."""
