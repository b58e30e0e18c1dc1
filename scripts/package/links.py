"""Makes relative links that leave a package absolute: links.py STAGE ADDRESS TAG < FILES

Each line of FILES is the folder of a package below STAGE, a tab, and a file of the package, as `cargo package --list` prints it. The
pages among them are rewritten in STAGE. A link to a file that the repository lacks ends the program with a line.
"""

import os
import re
import sys

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s#]+)(#[^)\s]*)?\)")


def absolute(stage, page, packaged, address, tag):
    """The text of a page, whose links lead to the package or to the repository's address."""
    folder = os.path.dirname(page)

    def replaced(match):
        text, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = os.path.normpath(os.path.join(folder, target))
        if not os.path.exists(os.path.join(stage, path)):
            sys.exit(f"links.py: {page} links to {target}, which the repository lacks")
        if path in packaged:
            return match[0]
        kind = "raw" if text.startswith("!") else "tree" if os.path.isdir(os.path.join(stage, path)) else "blob"
        return f"{text}{address}/{kind}/{tag}/{path}{anchor})"

    with open(os.path.join(stage, page), encoding="utf-8") as file:
        return LINK.sub(replaced, file.read())


def main(stage, address, tag):
    packages = {}
    for line in sys.stdin.read().splitlines():
        folder, file = line.split("\t")
        packages.setdefault(folder, set()).add(os.path.normpath(os.path.join(folder, file)))
    for packaged in packages.values():
        for page in sorted(file for file in packaged if file.endswith(".md")):
            text = absolute(stage, page, packaged, address, tag)
            with open(os.path.join(stage, page), "w", encoding="utf-8") as file:
                file.write(text)


main(*sys.argv[1:])
