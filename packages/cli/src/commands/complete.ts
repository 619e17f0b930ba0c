import type { CommandNode, OptionNode } from "../contract/command-tree.ts";

/** One suggestion for the word at the cursor. */
interface Suggestion {
  value: string;
  about: string;
}

/** Suggestions, or the shell's own names of files or of commands. */
type Completion = { by: "shell"; names: "files" | "commands" } | { by: "us"; suggestions: Suggestion[] };

const FILES: Completion = { by: "shell", names: "files" };

/** Values that completion looks up outside the command tree. */
interface Lookups {
  profiles(): string[];
  configKeys: readonly string[];
  /** Names of objects on the server that may be given as the `<id>` of a path. */
  names(path: string, prefix: string): Promise<Suggestion[]>;
}

const TEMPLATE_PATH = "/api/v1/templates/:id";
const FILE_FLAGS = new Set(["--html-file", "--text-file", "--attach", "--data", "--ready-file"]);

interface CursorPosition {
  node: CommandNode;
  /** Flags of the command and its parents. */
  options: OptionNode[];
  used: Set<string>;
  /** Number of arguments before the cursor. */
  given: number;
  /** The flag whose value is at the cursor. */
  open: OptionNode | undefined;
  /** Behind the -- of a command that runs a program: number of the program's words before the cursor. Null elsewhere. */
  program: number | null;
}

/** Suggests completions for the last of `words`, which are the words after `mailsvc`. */
export async function complete(root: CommandNode, words: readonly string[], lookups: Lookups): Promise<Completion> {
  const current = words.at(-1) ?? "";
  const place = locateCursor(root, words.slice(0, -1));
  if (place.program !== null) return place.program === 0 ? { by: "shell", names: "commands" } : FILES;
  const fitting = (suggestions: Suggestion[]): Completion => ({
    by: "us",
    suggestions: suggestions.filter((s) => s.value.startsWith(current)),
  });
  if (place.open?.flag === "--template") return fitting(await lookups.names(TEMPLATE_PATH, current));
  if (place.open) {
    const values = listFlagValues(place.open, lookups);
    return values.by === "shell" ? values : fitting(values.suggestions);
  }
  if (current.startsWith("--") && current.includes("=")) {
    const flag = current.slice(0, current.indexOf("="));
    const option = findFlag(place.options, flag);
    const values = option ? listFlagValues(option, lookups) : { by: "us" as const, suggestions: [] };
    return values.by === "shell" ? values : fitting(values.suggestions.map((s) => ({ ...s, value: `${flag}=${s.value}` })));
  }
  const flags = place.options.filter((o) => o.repeatable || !place.used.has(o.flag)).map((o) => ({ value: o.flag, about: o.description }));
  if (current.startsWith("-")) return fitting([...flags, { value: "--help", about: "help for this command" }]);
  // A template of the server is found by its slug, but what is checked most are files.
  if (place.node.command === "mailsvc lint" && !current.startsWith("-")) return FILES;
  const commands = place.given === 0 ? place.node.commands.map((c) => ({ value: c.name, about: c.summary })) : [];
  const path = place.given === 0 && !current.startsWith("-") ? place.node.endpoint?.path : undefined;
  const names = path === undefined ? [] : await lookups.names(path, current);
  const values = [...commands, ...names, ...listArgumentValues(place, lookups)];
  return values.length > 0 ? fitting(values) : fitting(place.node.commands.length === 0 ? flags : []);
}

function findFlag(options: readonly OptionNode[], word: string): OptionNode | null {
  return options.find((o) => o.flag === word || o.short === word) ?? null;
}

function locateCursor(root: CommandNode, words: readonly string[]): CursorPosition {
  const place: CursorPosition = { node: root, options: [...root.options], used: new Set(), given: 0, open: undefined, program: null };
  for (const word of words) {
    if (place.program !== null) {
      place.program += 1;
      continue;
    }
    if (place.open) {
      place.open = undefined;
      continue;
    }
    if (word === "--" && place.node.arguments.some(({ name }) => name === "command")) {
      place.program = 0;
      continue;
    }
    if (word.startsWith("-")) {
      const option = findFlag(place.options, word.split("=", 1)[0] ?? "");
      if (option) place.used.add(option.flag);
      if (option && option.type !== "boolean" && !word.includes("=")) place.open = option;
      continue;
    }
    const child = place.node.commands.find((c) => c.name === word);
    if (!child) {
      place.given += 1;
      continue;
    }
    place.node = child;
    place.options = [...child.options, ...place.options.filter((o) => !child.options.some((own) => own.flag === o.flag))];
    place.given = 0;
  }
  return place;
}

function listFlagValues(option: OptionNode, lookups: Lookups): Completion {
  if (option.flag === "--profile") return { by: "us", suggestions: lookups.profiles().map((value) => ({ value, about: "profile" })) };
  if (FILE_FLAGS.has(option.flag) || option.type === "file") return FILES;
  return { by: "us", suggestions: (option.choices ?? []).map((value) => ({ value, about: "" })) };
}

function listArgumentValues(place: CursorPosition, lookups: Lookups): Suggestion[] {
  const argument = place.node.arguments[place.given];
  if (!argument) return [];
  if (argument.name === "key" && place.node.command.includes(" config "))
    return lookups.configKeys.map((value) => ({ value, about: "setting" }));
  return (argument.choices ?? []).map((value) => ({ value, about: argument.name }));
}
