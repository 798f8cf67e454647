#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write what follows from spec/bfc.yaml, and spec/bfc-event.yaml, into the sources.

  spec/generate.py           write
  spec/generate.py --check   write nothing, name the files that are stale; exit code 1

A file has regions, from the comment "Generated from spec/bfc.yaml: NAME" to the comment
"End of NAME"; what is between them is replaced. selftests/tc/bfc_spec.py and
bfc-spec.json are generated as a whole.

Keys of an attribute beyond those of the kernel's netlink specs:
  section    comment above the attribute: it begins a group
  field      member of struct bfc_params, if it is not called as the attribute
  or-zero    0 is allowed besides checks: min to max
  message    extack text about a value out of range, without "bfc: "; tc says so, too,
             about a zero that would be the automatic value
  used-by    the modes that use the option, a key of USES; absent: all modes
  read-only  dumped, refused in a request
  tc         keyword, unit (enum unit of tc_bfc/q_bfc.h), words (name of a table),
             auto and auto-value (word and number of the automatic value), after (the
             attribute that it follows where tc prints options; absent: that with the
             number before), suffixes (those that the completion offers, if not all)
             group (of usage-groups), values (what may follow the keyword, * marks the
             default), default (if it is not among these), new-line (in help, man),
             samples for the tests (value given: value shown, the first one is changed
             to), samples-with (option and value that they need), shown (a pattern, if the
             value that is shown follows from another option)
  fixed      once the qdisc exists
  man        section (of man-sections), first (in its section), text (roff); or with: the
             attribute whose text is about this one, too

usage-groups: groups of options in the help text and the man page's synopsis, with their
heading there; man-sections: sections of the man page's list of parameters.

Of a statistic:
  tc         line (of stats-lines, of the qdisc's only), unit (enum bfc_unit of
             lib/bfc_stats.h, default number), key (name, if it is not the attribute's),
             after (the statistic of this line that it follows; absent: that with the
             number before)
stats-lines has the lines of tc's output in their order, and the blocks that they form.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).resolve().parent.parent
SPEC = "spec/bfc.yaml"
EVENT_SPEC = "spec/bfc-event.yaml"
BEGIN = "qdisc bfc 1: root refcnt [0-9]+ "  # of what tc shows of a test's qdisc
UAPI = "include/uapi/linux/pkt_sch_bfc.h"
FUZZER = "selftests/tools/nlfuzz.c"
EVENT_UAPI = "include/uapi/linux/bfc_event.h"
NETLINK = "sch_bfc/bfc_netlink.c"
OPTIONS = "sch_bfc/bfc_options.c"
MODES_H = "sch_bfc/bfc_fc.h"
MODES_C = "sch_bfc/bfc_fc.c"
PLUGIN = "tc_bfc/q_bfc.c"
MAN = "tc_bfc/tc-bfc.8"
COMPLETION = "tc_bfc/bash-completion/tc-bfc"
STATS_H = "lib/bfc_stats.h"
STATS_C = "lib/bfc_stats.c"
TESTS = "selftests/tc/bfc_spec.py"
CASES = "selftests/tc/bfc-spec.json"

Row = dict[str, Any]

# used-by: initializer of struct bfc_use
USES = {
    "port": 'BFC_USE_PORT("{}")',
    "pauser": 'BFC_USE_PAUSER("{0}", BFC_NOT_NIC("{0}"))',
    "capfc": 'BFC_USE_CAPFC("{0}", BFC_NOT_NIC("{0}"))',
    "not-fafc": 'BFC_USE_NOT_FAFC("{}")',
    "buffer": 'BFC_USE_SHARED("{}")',
    "capfc-cal": 'BFC_USE_CAPFC_CAL("{0}", BFC_NOT_NIC("{0}"))',
    "fafc": 'BFC_USE_FAFC("{}")',
    "fafc-pauser": 'BFC_USE_FAFC_PAUSER("{0}", BFC_NOT_NIC("{0}"))',
    "bfc": 'BFC_USE_BFC("{}")',
    "bfc-pauser": 'BFC_USE_BFC_PAUSER("{0}", BFC_NOT_NIC("{0}"))',
    "bfc-fafc": 'BFC_USE_BFC_FAFC("{}")',
    "all": 'BFC_USE_ALL("{}")',
    "destination": 'BFC_USE_DEST("{}")',
    "label": 'BFC_USE_LABEL("{}")',
    "all-or-buffer": 'BFC_USE_BUFFER(BFC_IN_ALL, "{}", "none")',
    "drr": 'BFC_USE_DRR("{}")',
    "measured": 'BFC_USE_MEASURED("{}")',
    "bfc-none": 'BFC_USE_BFC_NONE("{}")',
    "classes": 'BFC_USE_CLASSES("{}")',
    "ecn": 'BFC_USE_ECN("{}")',
    "kmax": 'BFC_USE_KMAX("{}")',
    "port-or-classes": 'BFC_USE_PORT_CLASSES("{}")',
    "port-buffer-or-classes": 'BFC_USE_PRIO("{}")',
}

POLICY = {"u8": "NLA_U8", "u16": "NLA_U16", "u32": "NLA_U32", "u64": "NLA_U64",
          "nest": "NLA_NESTED"}

# what the completion offers after a number
SUFFIXES = {"size": "b kb mb", "time": "s ms us ns", "timeout": "s ms us ns",
            "rate": "kbit mbit gbit tbit"}

# enums and attribute sets of a region of the uapi header, in their order there
OPTION_ENUMS = ("fc", "prio", "role", "peer", "assign", "resume", "stamp", "split-gso", "txqs",
                "sched", "options", "elide")
STATS_ENUMS = ("stats", "prio-stats", "tclass-stats", "peer-state", "refused", "class-stats")


def macro(name: str) -> str:
    return name.upper().replace("-", "_")


def tabs_to(text: str, column: int) -> str:
    """Tabs that bring text, which a tab precedes, to the column."""
    width = 8 + len(text)
    return "\t" * max(1, (column - width + 7) // 8)


def in_order(rows: list[Row]) -> list[Row]:
    """Rows with "after" moved behind the one that it names."""
    out = [r for r in rows if "after" not in r.get("tc", {})]
    left = [r for r in rows if r not in out]
    while left:
        names = [r["name"] for r in out]
        row = next((r for r in left if r["tc"]["after"] in names), None)
        if row is None:
            sys.exit(f"{SPEC}: {left[0]['name']}: after what?")
        out.insert(names.index(row["tc"]["after"]) + 1, row)
        left.remove(row)
    return out


class Spec:
    def __init__(self, spec: Row) -> None:
        self.sets: dict[str, Row] = {
            s["name"]: s for s in spec["definitions"] + spec["attribute-sets"]}
        self.options: list[Row] = self.sets["options"]["attributes"]
        self.usage_groups: list[Row] = spec["usage-groups"]
        self.man_sections: list[Row] = spec["man-sections"]
        # in the order of tc's output
        self.printed = in_order([o for o in self.options if "tc" in o])
        self.stats_lines: list[Row] = spec["stats-lines"]

    def uapi_enum(self, name: str) -> list[str]:
        return self.enum_of(self.sets[name])

    @classmethod
    def enum_of(cls, its: Row) -> list[str]:
        name: str = its["name"]
        prefix: str = its["name-prefix"]
        rows: list[Row] = its.get("attributes") or its["entries"]
        names = [prefix + macro(r["name"]) +
                 (f" = {r['value']}" if "value" in r else "") + "," for r in rows]
        column = max((8 + len(n)) // 8 * 8 + 8
                     for n, r in zip(names, rows) if cls.comment(name, r))
        out: list[str] = []
        if "doc" in its:
            lines = its["doc"].rstrip("\n").split("\n")
            end = " */" if len(lines) == 1 else ""
            out.append("/* " + lines[0] + end)
            out += [" * " + line for line in lines[1:]]
            if not end:
                out.append(" */")
        out.append("enum {")
        for text, row in zip(names, rows):
            if "section" in row:
                out.append(f"\t/* {row['section']} */")
            comment = cls.comment(name, row)
            out.append("\t" + text +
                       (tabs_to(text, column) + f"/* {comment} */" if comment else ""))
        if its.get("max"):
            out.append(f"\t__{prefix}MAX")
        out.append("};")
        if its.get("max") and "attributes" in its:
            out += ["", f"#define {prefix}MAX (__{prefix}MAX - 1)"]
        return out

    @staticmethod
    def comment(name: str, row: Row) -> str:
        doc: str = row.get("doc", "")
        kind: str = row.get("type", "")
        if not kind or name == "options" or kind in ("unused", "pad"):
            return doc
        return kind + ("" if not doc or doc.startswith(",") else " ") + doc

    def uapi(self, names: tuple[str, ...]) -> str:
        return "\n\n".join("\n".join(self.uapi_enum(n)) for n in names)

    def policy(self) -> str:
        out = ["static const struct nla_policy bfc_policy[TCA_BFC_MAX + 1] = {",
               "\t[TCA_BFC_UNSPEC]\t= { .strict_start_type = TCA_BFC_FC },"]
        for o in self.options:
            if o["type"] in ("unused", "pad"):
                continue
            checks = o.get("checks", {})
            if o.get("read-only"):
                value = "{ .type = NLA_REJECT }"
            elif o["type"] == "binary":
                value = f"NLA_POLICY_EXACT_LEN({checks['exact-len']})"
            elif o["type"] == "string":
                value = f"{{ .type = NLA_NUL_STRING,\n\t\t\t\t    .len = {checks['max-len']} }}"
            else:
                value = f"{{ .type = {POLICY[o['type']]} }}"
            name = f"[TCA_BFC_{macro(o['name'])}]"
            out.append(f"\t{name}{tabs_to(name, 32)}= {value},")
        return "\n".join(out + ["};"])

    def ranges(self) -> str:
        out = ["const struct bfc_option bfc_options[TCA_BFC_MAX + 1] = {"]
        for o in self.options:
            if "message" not in o:
                continue
            if "enum" in o:
                low, high = "0", f"__BFC_{macro(o['enum'])}_MAX - 1"
            else:
                low, high = (self.number(o["checks"][k]) for k in ("min", "max"))
            field = o.get("field", o["name"].replace("-", "_"))
            zero = "true" if o.get("or-zero") else "false"
            out += [f"\t[TCA_BFC_{macro(o['name'])}] =",
                    f"\t\tBFC_OPTION({field}, {o['type']}, {low}, {high}, {zero},",
                    f"\t\t\t   \"{o['message']}\"),"]
        return "\n".join(out + ["};"])

    def fuzzed(self) -> str:
        """What selftests/tools/nlfuzz.c knows of the attributes."""
        out = ["static const struct option options[] = {"]
        for o in self.options:
            name = f"TCA_BFC_{macro(o['name'])}"
            checks = o.get("checks", {})
            if o["type"] in ("unused", "pad"):
                continue
            if o.get("read-only"):
                out.append(f"\t{{ {name}, READ_ONLY, 0, 0, 0, false }},")
            elif o["type"] not in ("u8", "u16", "u32", "u64"):
                length = checks.get("exact-len", checks.get("max-len", "0"))
                out.append(f"\t{{ {name}, {o['type'].upper()}, {length}, 0, 0, false }},")
            else:
                high = f"__BFC_{macro(o['enum'])}_MAX - 1" if "enum" in o else \
                    self.number(checks.get("max", 0))
                low = "0" if "enum" in o else self.number(checks.get("min", 0))
                zero = "true" if o.get("or-zero") else "false"
                out.append(f"\t{{ {name}, NUMBER, {int(o['type'][1:]) // 8}, {low}, {high}, "
                           f"{zero} }},")
        return "\n".join(out + ["};"])

    @staticmethod
    def number(value: int | str) -> str:
        return value if isinstance(value, str) else \
            str(value) if value < 255 else hex(value)

    def uses(self) -> str:
        out = ["static const struct bfc_use bfc_uses[TCA_BFC_MAX + 1] = {"]
        for o in self.options:
            if "used-by" in o:
                use = USES[o["used-by"]].format(o["tc"]["keyword"])
                out.append(f"\t[TCA_BFC_{macro(o['name'])}] = {use},")
        return "\n".join(out + ["};"])

    def modes(self, line: str) -> list[str]:
        return [line.format(macro(e["name"]), e["name"].replace("-", "_"))
                for e in self.sets["fc"]["entries"]]

    def mode_table(self) -> str:
        return "\n".join(
            ["static const struct bfc_fc_ops * const bfc_fc_table[__BFC_FC_MAX] = {",
             *self.modes("\t[BFC_FC_{0}] = &bfc_fc_{1},"), "};"])

    def words(self) -> str:
        out: list[str] = []
        for name in ("fc", "peer", "assign", "resume", "prio", "split-gso", "txqs", "sched"):
            its = self.sets[name]
            out += ["", f"static const char * const {name.replace('-', '_')}_words[] = {{"]
            out += [f"\t[{its['name-prefix']}{macro(e['name'])}] = \"{e['name']}\","
                    for e in its["entries"]]
            out += ["\tNULL", "};"]
        return "\n".join(out[1:])

    def table(self) -> str:
        out = ["const struct bfc_option bfc_options[] = {"]
        for o in self.printed:
            tc = o["tc"]
            keyword = tc["keyword"]
            auto = f"\"{tc['auto']}\"" if "auto" in tc else "NULL"
            start = (f"\t{{ \"{keyword}\", \"{keyword.replace('-', '_')}\", "
                     f"TCA_BFC_{macro(o['name'])}, UNIT_{tc['unit'].upper()},")
            rest = (f"{tc.get('words', 'NULL')}, {auto}, {tc.get('auto-value', 0)}, "
                    f"\"{default_word(o)}\", {'true' if o.get('fixed') else 'false'},")
            said = f"\"{number_range(o)}\" }}," if number_range(o) else "NULL },"
            for part in (rest, said):
                fits = len(start.rpartition("\n")[2].expandtabs()) + 1 + len(part) <= 80
                start += (" " if fits else "\n\t  ") + part
            out.append(start)
        return "\n".join(out + ["\t{}", "};"])

    def usage(self, where: str) -> list[tuple[Row, list[list[Row]]]]:
        """Of each group the lines of options in the help text or the man page."""
        out: list[tuple[Row, list[list[Row]]]] = []
        for group in self.usage_groups:
            lines: list[list[Row]] = [[]]
            for o in self.printed:
                if o["tc"]["group"] != group["name"]:
                    continue
                if where in o["tc"].get("new-line", []):
                    lines.append([])
                lines[-1].append(o)
            out.append((group, [line for line in lines if line]))
        return out

    def defaults(self) -> str:
        """In words, those that values do not mark; equal ones are named together."""
        runs: list[tuple[list[str], str]] = []
        for o in self.printed:
            tc = o["tc"]
            if "default" not in tc:
                continue
            if runs and runs[-1][1] == tc["default"]:
                runs[-1][0].append(tc["keyword"])
            else:
                runs.append(([tc["keyword"]], tc["default"]))
        return "(* marks defaults; " + ", ".join(
            " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) + " " + value
            for names, value in runs) + ")"

    def help(self) -> str:
        out = []
        for group, lines in self.usage("help"):
            for i, line in enumerate(lines):
                start = "" if i else "  " + group["help"] if "help" in group else "Usage: ... bfc"
                out.append(f"{start:15}" + " ".join(
                    f"[ {o['tc']['keyword']} {o['tc']['values']} ]" for o in line))
        out += [" " * 15 + line for line in textwrap.wrap(
            self.defaults(), 60, break_on_hyphens=False)]
        out.append("See tc-bfc(8).")
        return "\n".join(["static const char usage[] ="] +
                         [f'\t"{line}\\n"' for line in out]) + ";"

    def synopsis(self) -> str:
        out: list[str] = []
        for group, lines in self.usage("man"):
            if "man" in group:
                out += [".P", group["man"]]
            for line in lines:
                out.append(".br")
                for o in line:
                    values = re.sub(r"(?<![^ ])[a-z0-9][a-z0-9-]*", r"\\fB\g<0>\\fR",
                                    o["tc"]["values"])
                    if "|" in values:
                        values = f"{{ {values} }}"
                    out.append(f"[ \\fB{o['tc']['keyword']}\\fR {values} ]".replace("-", "\\-"))
        return "\n".join(out + [".P"] + [
            line.replace("-", "\\-") for line in textwrap.wrap(
                self.defaults(), 88, break_on_hyphens=False)])

    def parameters(self) -> str:
        out: list[str] = []
        for section in self.man_sections:
            out.append(f".SS {section['title']}")
            out += section.get("text", "").splitlines()
            its = [o for o in self.printed if o["man"].get("section") == section["title"]]
            for o in sorted(its, key=lambda o: not o["man"].get("first")):
                names = [o["tc"]["keyword"]] + [
                    p["tc"]["keyword"] for p in self.printed if p["man"].get("with") == o["name"]]
                out += [".TP", ".B " + names[0] if len(names) == 1 else
                        ".BR " + ' ", " '.join(names)]
                out += o["man"]["text"].splitlines()
        return "\n".join(out)

    def completion_options(self) -> str:
        return "\n".join(textwrap.wrap(
            " ".join(o["tc"]["keyword"] for o in self.printed), 88, break_on_hyphens=False,
            initial_indent="    local opts='", subsequent_indent=" " * 8)) + "'"

    def completion_values(self) -> str:
        """An arm of the case statement for each set of values."""
        arms: dict[str, list[str]] = {}
        for o in self.printed:
            tc = o["tc"]
            words = list(dict.fromkeys(
                re.findall(r"(?:^|\| )([a-z0-9][a-z0-9-]*)(?![a-z0-9:-])", tc["values"])))
            suffixes = tc.get("suffixes", SUFFIXES.get(tc["unit"]))
            if tc["unit"] == "devices":
                todo = ("_available_interfaces\n"
                        f"COMPREPLY+=( $( compgen -W '{' '.join(words)}' -- \"$cur\" ) )\nreturn 0")
            elif suffixes:
                todo = f'words_for="{" ".join(words + [f"$( _tc_expand_units {suffixes} )"])}"'
            else:
                todo = f"words_for='{' '.join(words)}'"
            arms.setdefault(todo, []).append(tc["keyword"])
        out: list[str] = []
        for todo, keywords in arms.items():
            out.append(" " * 8 + "|".join(keywords) + ")")
            out += [" " * 12 + line for line in todo.split("\n") + [";;"]]
        return "\n".join(out)

    def blocks(self) -> str:
        return "\n".join(["enum bfc_block {"] + [
            f"\tBFC_BLOCK_{macro(b['block'])}," for b in self.stats_lines] + ["};"])

    def statistics(self, name: str, kind: str, places: dict[str, tuple[str, int]]) -> list[str]:
        """A table of lib/bfc_stats.c. places: of each line its block and number there."""
        out = [f"const struct bfc_stat bfc_{kind}_table[] = {{"]
        rows = [r for r in self.sets[name]["attributes"]
                if r["type"] not in ("unused", "pad", "nest", "binary")]
        for line in places:
            for row in in_order([r for r in rows if r.get("tc", {}).get("line", "") == line]):
                tc = row.get("tc", {})
                values = [f'"{stat_key(row)}"', macro(row["name"]), macro(tc.get("unit", "number"))]
                if line:
                    values += [macro(places[line][0]), str(places[line][1])]
                out.append(f"\t{macro(kind)}({', '.join(values)}),")
                rows.remove(row)
        if rows:
            sys.exit(f"{SPEC}: no line of stats-lines: {', '.join(r['name'] for r in rows)}")
        return out + ["\t{}", "};"]

    def shown_stats(self) -> list[tuple[Row, str]]:
        """Of the qdisc, with their blocks."""
        rows = self.sets["stats"]["attributes"]
        return [(row, block["block"]) for block in self.stats_lines for line in block["lines"]
                for row in in_order([r for r in rows if r.get("tc", {}).get("line") == line])]

    def stat_tables(self) -> str:
        places: dict[str, tuple[str, int]] = {}
        for block in self.stats_lines:
            for number, line in enumerate(block["lines"]):
                places[line] = block["block"], number
        return "\n".join(self.statistics("stats", "qdisc", places) + [""] +
                         self.statistics("prio-stats", "prio", {"": ("", 0)}) + [""] +
                         self.statistics("tclass-stats", "tclass", {"": ("", 0)}) + [""] +
                         self.statistics("class-stats", "class", {"": ("", 0)}))

    def as_shown(self, **words: str) -> dict[str, str]:
        """A pattern for each option as tc shows it, by its keyword; some with these values."""
        out = {}
        for o in self.printed:
            tc = o["tc"]
            word = words.get(tc["keyword"], default_word(o)).replace(".", "\\.")
            out[tc["keyword"]] = f"{tc['keyword']} {tc.get('shown', word)} "
        return out

    def shown(self, **words: str) -> str:
        """A pattern for all options, some with these values."""
        return BEGIN + "".join(self.as_shown(**words).values()) + "$"

    def shown_some(self, **words: str) -> str:
        """A pattern for these options, among others."""
        return BEGIN + "".join("(.* )?" + pattern for keyword, pattern
                               in self.as_shown(**words).items() if keyword in words)

    def shown_only(self, **words: str) -> str:
        """A pattern for those of these options that are not at their defaults, and no others
        but what follows from them.
        """
        out = BEGIN
        for o in self.printed:
            keyword = o["tc"]["keyword"]
            pattern = self.as_shown(**words)[keyword]
            if words.get(keyword, default_word(o)) != default_word(o):
                out += pattern
            elif "shown" in o["tc"]:
                out += f"({pattern})?"
        return out + "$"

    def cases(self) -> str:
        """What each option looks like, and that a change of it changes nothing else."""
        tc = "$TC qdisc {} dev $DUMMY handle 1: root bfc"
        add, change, replace = (tc.format(verb) for verb in ("add", "change", "replace"))
        pairs = ",".join(f'"{o["tc"]["keyword"].replace("-", "_")}":{json_value(o)}'
                         for o in self.printed if o["tc"]["unit"] != "stamp")
        escaped = re.sub(r"[][{}.]", lambda m: "\\" + m[0], pairs)
        out = [tdc_case("Create BFC with default setting", [], add, BEGIN + "$", ""),
               tdc_case("Create BFC with default setting, in detail", [], add, self.shown()),
               tdc_case("Create BFC with default setting, in JSON", [], add,
                        '"kind":"bfc","handle":"1:","root":true,.*"options":\\{' + escaped +
                        "[,}]", "-j ")]
        for o in self.printed:
            keyword, samples = o["tc"]["keyword"], o["tc"].get("samples", {})
            needs = o["tc"].get("samples-with", "").split()
            needed = dict(zip(needs[::2], needs[1::2]))
            begin = " ".join(["", *needs])
            for given, word in samples.items():
                out.append(tdc_case(f"Create BFC with{begin} {keyword} {given}", [],
                                    f"{add}{begin} {keyword} {given}",
                                    self.shown_only(**needed, **{keyword: word}), ""))
            if not samples or o.get("fixed"):
                continue
            given, word = next(iter(samples.items()))
            out.append(tdc_case(f"BFC change of {keyword} and nothing else", [add + begin],
                                f"{change} {keyword} {given}",
                                self.shown(**needed, **{keyword: word})))
            out.append(tdc_case(f"BFC replace of {keyword}", [add + begin],
                                f"{replace} {keyword} {given}",
                                self.shown_some(**needed, **{keyword: word})))
            out.append(tdc_case(f"BFC change of {keyword} back",
                                [f"{add}{begin} {keyword} {given}"],
                                f"{change} {keyword} {default_word(o)}",
                                self.shown_some(**{keyword: default_word(o)})))
        identify(out)
        return json.dumps(out, indent=4) + "\n"

    def constants(self) -> dict[str, int]:
        """Values of the header's macros and of the enums' ends."""
        known: dict[str, int] = {}
        for name, text in re.findall(r"^#define (BFC_\w+)[ \t]+([^/\n]+)",
                                     (TOP / UAPI).read_text(), re.M):
            text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)U?L*\b", r"\1", text.strip())
            text = re.sub(r"BFC_\w+", lambda m: str(known.get(m[0], m[0])), text)
            if re.fullmatch(r"[0-9a-fA-Fx<>*+~() -]+", text):
                known[name] = int(eval(text))  # digits and operators only
        return known

    def tests(self) -> str:
        known = self.constants()
        out = ["# SPDX-License-Identifier: GPL-2.0",
               f'"""Options and statistics of the qdisc. Generated from {SPEC} by spec/generate.py."""',
               "", "from __future__ import annotations", "",
               "from typing import NamedTuple", "", "",
               "class Option(NamedTuple):",
               "    keyword: str        # of tc; JSON has _ for -",
               "    attr: int           # TCA_BFC_*",
               "    width: int          # of the attribute, bytes",
               "    low: int            # smallest and largest value",
               "    high: int",
               "    or_zero: bool       # 0 is allowed besides",
               "    also: int | None    # a value out of the range that means \"auto\"",
               "    unit: str           # how tc writes it",
               "    used_by: str        # modes; \"\": all",
               "    message: str        # of the kernel about a value out of range", "", "",
               "# Every option that is a number.", "OPTIONS = ["]
        keywords = []
        for attr, o in enumerate(self.options):
            if "tc" in o:
                keywords.append(o["tc"]["keyword"])
            if "message" not in o:
                continue
            if "enum" in o:
                low, high = 0, len(self.sets[o["enum"]]["entries"]) - 1
            else:
                low, high = (v if isinstance(v, int) else known[v]
                             for v in (o["checks"]["min"], o["checks"]["max"]))
            tc = o.get("tc", {})
            also = (1 << 64) - 1 if "auto-value" in tc else None
            out += [f"    Option({tc.get('keyword', '')!r}, {attr}, {int(o['type'][1:]) // 8}, "
                    f"{low}, {high}, {bool(o.get('or-zero'))},",
                    f"           {also}, {tc.get('unit', '')!r}, {o.get('used-by', '')!r},",
                    f"           {'bfc: ' + o['message']!r}),"]
        out += ["]", "", "# Every option that tc has.", "KEYWORDS = ["]
        out += [f"    {k!r}," for k in keywords]
        shown = [o for o in self.printed if o["tc"]["unit"] != "stamp"]
        out += ["]", "", "# The defaults as tc shows them.", "DEFAULT_TEXT = ("]
        out += [f'    "{o["tc"]["keyword"]} {default_word(o)}{end}"'
                for o, end in zip(shown, [" "] * (len(shown) - 1) + [""])]
        out += [")", "DEFAULT_JSON: dict[str, object] = {"]
        out += [f"    {o['tc']['keyword'].replace('-', '_')!r}: {json.loads(json_value(o))!r},"
                for o in shown]
        out += ["}", "", "", "class Statistic(NamedTuple):",
                "    key: str            # in text and JSON",
                "    attr: int           # TCA_BFC_STATS_*",
                "    width: int          # of the attribute, bytes",
                "    block: str          # that tc shows together",
                "    line: str           # of its text", "", "",
                "# Those of the qdisc, in the order of tc's output.", "STATISTICS = ["]
        attrs = [r["name"] for r in self.sets["stats"]["attributes"]]
        for row, block in self.shown_stats():
            out.append(f"    Statistic({stat_key(row)!r}, {attrs.index(row['name'])}, "
                       f"{int(row['type'][1:]) // 8}, {block!r}, {row['tc']['line']!r}),")
        return "\n".join(out + ["]"]) + "\n"


def stat_key(row: Row) -> str:
    return str(row.get("tc", {}).get("key", row["name"].replace("-", "_")))


def default_word(row: Row) -> str:
    """As tc shows it."""
    marked = re.search(r"(\S+)\*", row["tc"]["values"])
    return marked[1] if marked else str(row["tc"]["default"])


def number_range(row: Row) -> str:
    """What a number with a unit of its own may be, as the kernel says it; "" of others."""
    if row["tc"]["unit"] not in ("number", "size", "time", "timeout", "rate", "share"):
        return ""
    return str(row["message"]).partition(": ")[2]


def json_value(row: Row) -> str:
    """The default as tc shows it in JSON."""
    unit, word = row["tc"]["unit"], default_word(row)
    if unit == "devices":
        return "[]"
    if unit == "map":
        return "{}"
    if unit == "list":
        return "[]"
    if unit == "prios":
        return json.dumps(list(range(8)) if word == "all" else [], separators=(",", ":"))
    if unit == "switch":
        return json.dumps(word == "on")
    number = re.fullmatch(r"([0-9.]+)([a-zA-Z%]*)", word)
    if unit in ("word", "tpid", "name") or word == row["tc"].get("auto") or number is None:
        return json.dumps(word)
    scale = {"": 1, "b": 1, "Kb": 1 << 10, "Mb": 1 << 20, "ns": 1, "us": 1000, "ms": 10**6,
             "%": .01}
    return f"{float(number[1]) * scale[number[2]]:.12g}"


def tdc_case(name: str, setup: list[str], command: str, pattern: str, show: str = "-d ") -> Row:
    """A test case of the kernel's tdc.py."""
    device = "$IP link {} dev $DUMMY type dummy"
    return {"id": "", "name": name, "category": ["qdisc", "bfc"],
            "plugins": {"requires": "nsPlugin"},
            "setup": [device.format("add") + " || /bin/true"] + setup,
            "cmdUnderTest": command, "expExitCode": "0",
            "verifyCmd": f"$TC {show}qdisc show dev $DUMMY", "matchPattern": pattern,
            "matchCount": "1",
            "teardown": ["$TC qdisc del dev $DUMMY handle 1: root", device.format("del")]}


def identify(cases: list[Row]) -> None:
    """Give each an id that no other case has: it follows from the name."""
    taken = set()
    for path in (TOP / CASES).parent.glob("*.json"):
        if path != TOP / CASES:
            taken |= {case["id"] for case in json.loads(path.read_text())}
    for case in cases:
        text = case["name"]
        while not case["id"] or case["id"] in taken:
            case["id"] = hashlib.sha256(text.encode()).hexdigest()[:4]
            text += "."
        taken.add(case["id"])


def event_numbers() -> str:
    """The enums of the events' header"""
    spec: Row = yaml.safe_load((TOP / EVENT_SPEC).read_text())
    commands, events = spec["operations"], spec["attribute-sets"][0]
    sets = [{**commands, "name": "commands",
             "attributes": [{"name": "unspec"}] + commands["list"]},
            {**events, "attributes": [{"name": "unspec"}] + events["attributes"]}]
    return "\n\n".join("\n".join(Spec.enum_of(s)) for s in sets)


def put(text: str, name: str, body: str, path: str) -> str:
    """text with the region's body replaced"""
    form, gap = "/* {} */\n", "\n\n"
    if path == MAN:
        form, gap = ".\\\" {}\n", "\n"    # where an empty line is one
    elif path == COMPLETION:
        form, gap = "# {}\n", "\n"
    source = EVENT_SPEC if path == EVENT_UAPI else SPEC
    start = form.format(f"Generated from {source}: {name}")
    a = text.find(start)
    b = text.find(form.format(f"End of {name}").rstrip("\n"), a)
    if a < 0 or b < a:
        sys.exit(f"{path}: no region {name}")
    b = text.rfind("\n", 0, b) + 1
    return text[:a + len(start)] + body + gap + text[b:]


def main() -> int:
    spec = Spec(yaml.safe_load((TOP / SPEC).read_text()))
    regions = {
        UAPI: {"options": spec.uapi(OPTION_ENUMS), "statistics": spec.uapi(STATS_ENUMS)},
        EVENT_UAPI: {"numbers": event_numbers()},
        FUZZER: {"options": spec.fuzzed()},
        NETLINK: {"policy": spec.policy()},
        OPTIONS: {"ranges": spec.ranges(), "uses": spec.uses()},
        MODES_H: {"modes": "\n".join(
            spec.modes("extern const struct bfc_fc_ops bfc_fc_{1};"))},
        MODES_C: {"modes": spec.mode_table()},
        STATS_H: {"blocks": spec.blocks()},
        STATS_C: {"statistics": spec.stat_tables()},
        PLUGIN: {"words": spec.words(), "table": spec.table(), "help": spec.help()},
        MAN: {"synopsis": spec.synopsis(), "parameters": spec.parameters()},
        COMPLETION: {"options": spec.completion_options(), "values": spec.completion_values()},
    }
    files = {TESTS: spec.tests(), CASES: spec.cases()}
    for path, bodies in regions.items():
        text = (TOP / path).read_text()
        for name, body in bodies.items():
            text = put(text, name, body, path)
        files[path] = text
    stale = [p for p, text in files.items()
             if not (TOP / p).exists() or (TOP / p).read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path}: not what spec/ says: run spec/generate.py")
        return 1 if stale else 0
    for path in stale:
        (TOP / path).write_text(files[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
