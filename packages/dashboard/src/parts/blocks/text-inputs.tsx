/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { VariableMenu } from "./variable-menu.tsx";
import type { VariableChoice } from "./variables.ts";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly max: number;
  readonly variables: readonly VariableChoice[];
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly change: (value: string) => void;
}

type TextElement = HTMLInputElement | HTMLTextAreaElement;

/** A line of text, into which variables can be put where the cursor is. */
export function LineInput({ label, value, max, variables, hint, error, change }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  return (
    <InputFrame
      {...{ id, label, hint, error }}
      tools={<VariableMenu variables={variables} insert={(written) => insertAt(input.current, written, change)} />}
    >
      <input
        ref={input}
        id={id}
        value={value}
        maxLength={max}
        autocomplete="off"
        aria-invalid={Boolean(error)}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </InputFrame>
  );
}

interface AddressProps extends Props {
  /** True for the address of a picture, which links of the service are not. */
  readonly isPicture?: boolean;
}

/** An address. It is taken over when it is complete: on the way, every letter would be a wrong one. */
export function AddressInput({ label, value, max, variables, hint, error, change, isPicture = false }: AddressProps) {
  const id = useId();
  return (
    <InputFrame
      {...{ id, label, hint, error }}
      tools={<VariableMenu variables={variables} place={isPicture ? "text" : "link"} insert={change} />}
    >
      <input
        id={id}
        value={value}
        maxLength={max}
        inputMode="url"
        autocomplete="off"
        spellcheck={false}
        placeholder="https://"
        aria-invalid={Boolean(error)}
        onChange={({ currentTarget }) => change(completeAddress(currentTarget.value))}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Enter") change(completeAddress(currentTarget.value));
        }}
      />
    </InputFrame>
  );
}

/** Paragraphs, with buttons for bold, italics, links, lists and variables. */
export function PassageInput({ label, value, max, variables, hint, error, change }: Props) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const tool = (name: string, text: string, act: () => void) => (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={act}>
      {text}
    </button>
  );
  const wrap = (before: string, after: string, words: string) => () => wrapSelection(area.current, { before, after, words }, change);
  const keys: Readonly<Record<string, () => void>> = { b: wrap("**", "**", "bold"), i: wrap("*", "*", "italic") };
  return (
    <InputFrame
      {...{ id, label, hint, error }}
      tools={
        <span class="tools" role="group" aria-label={`Format ${label.toLowerCase()}`}>
          {tool("Bold", "B", wrap("**", "**", "bold"))}
          {tool("Italic", "I", wrap("*", "*", "italic"))}
          {tool("Link", "Link", wrap("[", "](https://)", "words"))}
          {tool("List", "List", () => makeList(area.current, change))}
          <VariableMenu variables={variables} insert={(written) => insertAt(area.current, written, change)} />
        </span>
      }
    >
      <textarea
        ref={area}
        id={id}
        value={value}
        maxLength={max}
        rows={Math.min(16, Math.max(4, value.split("\n").length + 1))}
        aria-invalid={Boolean(error)}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={(event) => {
          const act = event.ctrlKey || event.metaKey ? keys[event.key] : undefined;
          if (act === undefined) return;
          event.preventDefault();
          act();
        }}
      />
    </InputFrame>
  );
}

interface FrameProps extends Pick<Props, "label" | "hint" | "error"> {
  /** Id of the element to fill in. */
  readonly id: string;
  readonly tools: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The label of an input with its tools, and what is said about it. */
function InputFrame({ id, label, hint, error, tools, children }: FrameProps) {
  return (
    <div class="field">
      <span class="with-tools">
        <label for={id}>{label}</label>
        {tools}
      </span>
      {children}
      {hint ? <span class="hint soft">{hint}</span> : null}
      {error ? (
        <span class="hint wrong" role="alert">
          {error}
        </span>
      ) : null}
    </div>
  );
}

/** An address as people mean it: `acme.example` is a page, `ada@acme.example` a person. */
function completeAddress(typed: string): string {
  const text = typed.trim();
  if (text === "" || text.startsWith("{{") || /^[a-z][a-z\d+.-]*:/i.test(text)) return text;
  if (/^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(text)) return `mailto:${text}`;
  return /^[^\s/]+\.[^\s/.]{2,}(?:\/|$)/.test(text) ? `https://${text}` : text;
}

/** Puts a text in at the cursor, and the cursor behind it. */
function insertAt(element: TextElement | null, written: string, change: (value: string) => void): void {
  if (element === null) return;
  replaceRange(element, written, [written.length, written.length], change);
}

interface Wrapping {
  readonly before: string;
  readonly after: string;
  /** Words in place of an empty selection. */
  readonly words: string;
}

function wrapSelection(element: TextElement | null, { before, after, words }: Wrapping, change: (value: string) => void): void {
  if (element === null) return;
  const { selectionStart, selectionEnd, value } = element;
  const chosen = value.slice(selectionStart ?? 0, selectionEnd ?? 0) || words;
  // Of a link the address is still to be written; otherwise the words are.
  const isLink = after.startsWith("](");
  const from = isLink ? before.length + chosen.length + 2 : before.length;
  replaceRange(element, `${before}${chosen}${after}`, [from, isLink ? from + after.length - 3 : from + chosen.length], change);
}

/** Makes items of a list of the chosen lines. */
function makeList(element: TextElement | null, change: (value: string) => void): void {
  if (element === null) return;
  const { value } = element;
  const start = value.lastIndexOf("\n", (element.selectionStart ?? 0) - 1) + 1;
  const end = Math.max(start, element.selectionEnd ?? 0);
  element.setSelectionRange(start, end);
  const lines = value
    .slice(start, end)
    .split("\n")
    .map((line) => (line.startsWith("- ") ? line : `- ${line}`))
    .join("\n");
  replaceRange(element, lines, [lines.length, lines.length], change);
}

function replaceRange(element: TextElement, written: string, [from, to]: readonly [number, number], change: (value: string) => void): void {
  const start = element.selectionStart ?? element.value.length;
  const end = element.selectionEnd ?? start;
  const next = element.value.slice(0, start) + written + element.value.slice(end);
  // The element is written to at once, so that the cursor can be set before it is rendered again.
  element.value = next;
  change(next);
  element.focus();
  element.setSelectionRange(start + from, start + to);
}
