import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { html } from "@codemirror/legacy-modes/mode/xml";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The only module that knows CodeMirror: it weighs more than all pages together, and is loaded where a template is edited or compared.

/** Something to say about a line. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** Line, from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface EditorOptions {
  /** A shadow root: there CodeMirror's styles are objects and no `<style>` elements, which the policy of the page refuses. */
  readonly root: ShadowRoot;
  readonly text: string;
  /** Label for screen readers. */
  readonly label: string;
  readonly readOnly: boolean;
  readonly change: (text: string) => void;
}

/** An editor in the document. */
export interface Editor {
  /** Replaces the text, unless it is that already. */
  setText(text: string): void;
  setProblems(problems: readonly Problem[]): void;
  /** Puts the cursor at a place, from 1, and shows it. */
  goTo(line: number, column: number): void;
  close(): void;
}

/** Opens an editor of HTML with placeholders, or of plain text. */
export function openEditor({ root, text, label, readOnly, change }: EditorOptions): Editor {
  let silent = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        LOOK,
        lineNumbers(),
        lintGutter(),
        history(),
        highlightActiveLine(),
        // Tab is not among them: it leaves the editor, as it leaves every other field.
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorState.readOnly.of(readOnly),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": String(readOnly), tabindex: "0" }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged && !silent) change(state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (next) => {
      if (next === view.state.doc.toString()) return;
      silent = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      silent = false;
    },
    setProblems: (problems) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map((problem) => toDiagnostic(view.state, problem)),
        ),
      ),
    goTo: (line, column) => {
      const at = findPosition(view.state, line, column);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** Shows how a text differs from an earlier one, line by line; returns how to remove it. */
export function openDifference({
  root,
  before,
  after,
  label,
}: Record<"before" | "after" | "label", string> & { readonly root: ShadowRoot }): () => void {
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: after,
      extensions: [
        LOOK,
        lineNumbers(),
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
        unifiedMergeView({
          original: before,
          mergeControls: false,
          syntaxHighlightDeletions: false,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
      ],
    }),
  });
  return () => view.destroy();
}

function findPosition({ doc }: EditorState, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + Math.max(column - 1, 0), found.to);
}

/** A problem marks the word it stands at. */
function toDiagnostic(state: EditorState, { line, column, severity, message }: Problem): Diagnostic {
  const from = findPosition(state, line, column);
  return { from, to: Math.max(from, state.wordAt(from)?.to ?? from), severity, message };
}

/** Marks `{{ placeholders }}`. */
const PLACEHOLDERS = new MatchDecorator({ regexp: /\{\{[^{}]*\}?\}\}/g, decoration: Decoration.mark({ class: "placeholder" }) });

const placeholders = ViewPlugin.define(
  (view): { marks: DecorationSet; update: (update: Parameters<typeof PLACEHOLDERS.updateDeco>[0]) => void } => ({
    marks: PLACEHOLDERS.createDeco(view),
    update(update) {
      this.marks = PLACEHOLDERS.updateDeco(update, this.marks);
    },
  }),
  { decorations: ({ marks }) => marks },
);

const STYLE = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--accent)" },
  { tag: tags.attributeName, color: "var(--busy)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--good)" },
  { tag: [tags.comment, tags.processingInstruction], color: "var(--soft)" },
]);

// The colors are those of the page, whose variables reach into the shadow root; so they follow its scheme.
const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--card)", fontSize: "12.5px", height: "100%" },
  // Its frame shows the focus.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--side)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--tint) 40%, transparent)" },
  ".placeholder": { color: "var(--warn)", fontWeight: "600" },
  ".placeholder *": { color: "inherit" },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--card)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    maxWidth: "420px",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-changedLine": { backgroundColor: "var(--good-bg) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-bg) !important", color: "var(--ink)" },
  ".cm-changedText, .cm-deletedText, .cm-deletedChunk .cm-deletedText": { background: "none !important", fontWeight: "700" },
  ".cm-changeGutter": { width: "3px", paddingLeft: "0" },
  ".cm-changedLineGutter": { background: "var(--good)" },
  ".cm-deletedLineGutter": { background: "var(--bad)" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"' },
  ".cm-collapsedLines": { color: "var(--soft)", background: "var(--plain-bg) !important" },
});

const LOOK: Extension = [StreamLanguage.define(html), syntaxHighlighting(STYLE), THEME, placeholders, EditorView.lineWrapping];
