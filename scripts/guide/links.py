"""Leads the links of the built guide to the files of the repository: links.py BOOK [--check]

BOOK is what mdbook has built of docs/guide, in a folder of the repository. mdbook takes every link to a .md for a link to a
chapter. With --check every link must lead to a file and to a heading of it, web links must have the form of one, and every
chapter and picture of docs/guide/src must be used.
"""

import html.parser
import os
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs/guide/src"


class Page(html.parser.HTMLParser):
    """The links of a page and what links to it may name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif (tag, name) in [("a", "href"), ("img", "src"), ("object", "data")] and value:
                self.links.append(value)


def headings(text):
    """The anchors of a Markdown file, as the viewers of repositories make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ +(.*?) *$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def in_repository(page, path):
    """The file of the repository that a link which leaves the book means; `page` is relative to the book."""
    target = pathlib.Path(os.path.normpath(SOURCE / page.parent / path))
    markdown = target.with_suffix(".md")
    return markdown if target.suffix == ".html" and not target.exists() else target


def main(book, check):
    pages = {path.relative_to(book): path.read_text() for path in sorted(book.rglob("*.html"))}
    parsed = {path: Page(text) for path, text in pages.items()}
    faults, used = [], set()
    web = 0
    for page, text in pages.items():
        # What is shown for an address that leads nowhere has no place of its own.
        if page.name in ("404.html", "toc.html"):
            continue
        for link in dict.fromkeys(parsed[page].links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                web += 1
                if parts.scheme != "https" or not re.fullmatch(r"[a-z0-9.-]+\.[a-z]{2,}", parts.netloc):
                    faults.append(f"{page}: {link} is no web link")
                continue
            path = urllib.parse.unquote(parts.path)
            inside = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
            if inside.parts[:1] == ("..",):
                target = in_repository(page, path)
                if not target.exists():
                    faults.append(f"{page}: {link}: {target.relative_to(ROOT)} is missing")
                    continue
                if parts.fragment and parts.fragment not in headings(target.read_text()):
                    faults.append(f"{page}: {link}: no heading of {target.relative_to(ROOT)} has this name")
                there = os.path.relpath(target, book / page.parent)
                text = text.replace(f'"{link}"', f'"{urllib.parse.urlunsplit(parts._replace(path=there))}"')
            elif not (book / inside).exists():
                faults.append(f"{page}: {link}: {inside} is not in the guide")
            else:
                used.add(inside)
                if parts.fragment and parts.fragment not in parsed[inside].anchors:
                    faults.append(f"{page}: {link}: no heading of {inside} has this name")
        (book / page).write_text(text)
    for source in sorted(SOURCE.rglob("*")):
        path = source.relative_to(SOURCE)
        built = path.with_suffix(".html") if source.suffix == ".md" else path
        if source.is_file() and source.name != "SUMMARY.md" and built not in used and built not in pages:
            faults.append(f"{path} is used by no chapter")
    for fault in faults:
        print(fault, file=sys.stderr)
    if not check:
        return 0
    links = sum(len(page.links) for page in parsed.values())
    print(f"{len(pages)} pages, {links} links, of which {web} lead to the web", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), "--check" in sys.argv[2:]))
