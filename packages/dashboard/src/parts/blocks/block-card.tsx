/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { RowMenu } from "../row-menu.tsx";
import { BlockFields } from "./fields.tsx";
import { describeBlock, describeLack, KINDS, nameBlock } from "./kinds.ts";
import type { Item } from "./tree.ts";
import type { VariableChoice } from "./variables.ts";

/** The actions of a person on a block. */
export interface BlockActions {
  change(key: number, fields: object, step: string): void;
  resize(key: number, count: number): void;
  /** Moves it up or down in its list. */
  step(key: number, by: -1 | 1): void;
  /** Other places that it can be moved to, each with its name. */
  listMoves(key: number): readonly { readonly label: string; readonly act: () => void }[];
  copy(key: number): void;
  remove(key: number): void;
  open(key: number | null): void;
  drag(event: PointerEvent, item: Item): void;
}

interface Props {
  readonly item: Item;
  /** Its number in its list, from 1, and how many there are. */
  readonly number: number;
  readonly count: number;
  readonly isOpen: boolean;
  readonly isDragged: boolean;
  /** True if a dragged block would be dropped before it. */
  readonly isMarked: boolean;
  readonly isReadOnly: boolean;
  readonly variables: readonly VariableChoice[];
  readonly message: (field: string) => string;
  readonly actions: BlockActions;
  /** Its columns. */
  readonly children?: ComponentChildren;
}

/** One block: a line that says what it is, and its fields once it is opened. */
export function BlockCard(props: Props) {
  const { item, number, count, isOpen, isDragged, isMarked, isReadOnly, message, actions, children } = props;
  const { key, block } = item;
  const words = describeBlock(block);
  const lack = describeLack(block);
  const wrong = message("");
  const name = nameBlock(block);
  const press = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : null;
    if (by === null && event.key !== "Delete") return;
    event.preventDefault();
    if (by === null) actions.remove(key);
    else actions.step(key, by);
  };
  const act = (what: () => void) => async (): Promise<void> => what();
  return (
    <li
      class={`block ${isOpen ? "open" : ""} ${isDragged ? "dragged" : ""} ${isMarked ? "marked" : ""}`}
      data-key={key}
      aria-label={`${name}, ${number} of ${count}`}
    >
      <div class="block-head">
        {isReadOnly ? null : (
          <button
            type="button"
            class="quiet handle"
            aria-label={`Move ${name}, ${number} of ${count}: arrow keys, or drag it`}
            title="Drag to move, or use the arrow keys"
            onPointerDown={(event) => actions.drag(event, item)}
            onKeyDown={press}
          >
            ⠿
          </button>
        )}
        <button type="button" class="quiet block-name" aria-expanded={isOpen} onClick={() => actions.open(isOpen ? null : key)}>
          <strong>{KINDS[block.type].name}</strong>
          <span class="soft">{words}</span>
        </button>
        {wrong !== "" ? <span class="status bad">See below</span> : lack === "" ? null : <span class="status warn">{lack}</span>}
        {isReadOnly ? null : (
          <RowMenu
            label={`More for ${name}`}
            entries={[
              { label: "Duplicate", act: act(() => actions.copy(key)) },
              ...(number > 1 ? [{ label: "Move up", act: act(() => actions.step(key, -1)) }] : []),
              ...(number < count ? [{ label: "Move down", act: act(() => actions.step(key, 1)) }] : []),
              ...actions.listMoves(key).map((move) => ({ label: move.label, act: act(move.act) })),
              { label: "Delete", act: act(() => actions.remove(key)) },
            ]}
          />
        )}
      </div>
      {isOpen ? (
        <fieldset class="block-body form" disabled={isReadOnly}>
          <legend class="hidden">{name}</legend>
          <BlockFields
            block={block}
            variables={props.variables}
            message={message}
            change={(fields, step) => actions.change(key, fields, step)}
            resize={(to) => actions.resize(key, to)}
          />
        </fieldset>
      ) : null}
      {children}
    </li>
  );
}
