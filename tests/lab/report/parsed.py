"""An HTML document as a strict reader sees it: every element is closed in its place."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr"}
RAW = {"script", "style"}


class Document(HTMLParser):
    """Elements with their attributes, texts by the id of the section they stand in, scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.texts: dict[str, str] = {}
        self.faults: list[str] = []
        self._open: list[str] = []
        self._section = ""
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.elements.append((tag, own))
        if tag in RAW:
            self.raw.append((tag, own, ""))
        if tag == "section":
            self._section = own.get("id") or ""
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in RAW:
            tag, own, before = self.raw[-1]
            self.raw[-1] = (tag, own, before + data)
        else:
            self.texts[self._section] = self.texts.get(self._section, "") + data

    def scripts(self) -> list[str]:
        """Return what would run."""
        return [text for tag, own, text in self.raw if tag == "script" and "type" not in own]

    def data(self) -> dict[str, str]:
        """Return the data that stand in scripts, by id."""
        return {
            own["id"] or "": text
            for tag, own, text in self.raw
            if tag == "script" and "type" in own
        }
