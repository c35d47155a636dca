"""Sphinx-gallery: every example begins with the same look and without open figures."""


def reset(gallery_conf, name):
    """Close all figures and restore the defaults of matplotlib."""
    import matplotlib.pyplot as plt

    plt.close("all")
    plt.rcdefaults()
    plt.rcParams["figure.dpi"] = 100
