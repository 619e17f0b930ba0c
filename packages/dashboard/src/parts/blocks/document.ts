import type { MailBlock, MailBlocks } from "@mailsvc/sdk/contract";
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Item, toBlocks, toItems } from "./tree.ts";

// More steps back than anybody counts.
const MOST_STEPS = 100;

type Steps = readonly (readonly Item[])[];

/** The blocks of a mail while they are edited, with every step that can be undone. */
export class BlockDocument {
  readonly #items;
  readonly #past = signal<Steps>([]);
  readonly #future = signal<Steps>([]);
  readonly #changed: (blocks: MailBlocks) => void;
  // Blocks that `changed` was told come back, perhaps when there is more already.
  readonly #told = new WeakSet<readonly MailBlock[]>();
  #nextKey = 0;
  // Typing in one field is one step.
  #lastField = "";

  readonly items: ReadonlySignal<readonly Item[]>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;

  /** `changed` is told the blocks after each change by the person. */
  constructor(blocks: readonly MailBlock[], changed: (blocks: MailBlocks) => void) {
    this.#items = signal<readonly Item[]>(toItems(blocks, this.makeKey));
    this.items = this.#items;
    this.#changed = changed;
    this.canUndo = computed(() => this.#past.value.length > 0);
    this.canRedo = computed(() => this.#future.value.length > 0);
  }

  readonly makeKey = (): number => {
    this.#nextKey += 1;
    return this.#nextKey;
  };

  /** Applies a change; further ones of the same `field` belong to the same step. */
  apply(items: readonly Item[], field = ""): void {
    const before = this.#items.peek();
    if (items === before) return;
    if (field === "" || field !== this.#lastField) this.#past.value = [...this.#past.peek(), before].slice(-MOST_STEPS);
    this.#lastField = field;
    this.#future.value = [];
    this.#show(items);
  }

  undo(): void {
    this.#step(this.#past, this.#future);
  }

  redo(): void {
    this.#step(this.#future, this.#past);
  }

  /** Takes over blocks that came from elsewhere, such as a colleague's; what was undone before is forgotten. */
  follow(blocks: readonly MailBlock[]): void {
    if (this.#told.has(blocks) || toComparable(toBlocks(this.#items.peek())) === toComparable(blocks)) return;
    this.#past.value = [];
    this.#future.value = [];
    this.#lastField = "";
    this.#items.value = toItems(blocks, this.makeKey);
  }

  #step(from: Signal<Steps>, to: Signal<Steps>): void {
    const items = from.peek().at(-1);
    if (items === undefined) return;
    from.value = from.peek().slice(0, -1);
    to.value = [...to.peek(), this.#items.peek()];
    this.#lastField = "";
    this.#show(items);
  }

  #show(items: readonly Item[]): void {
    this.#items.value = items;
    const blocks = toBlocks(items);
    this.#told.add(blocks);
    this.#changed(blocks);
  }
}

/** Blocks as a text that does not depend on the order of their fields, which the server may change. */
function toComparable(blocks: readonly MailBlock[]): string {
  return JSON.stringify(blocks, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
