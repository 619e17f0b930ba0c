/** @jsxImportSource preact */
import type { MailBlock, MailBlocks } from "@mailsvc/sdk/contract";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { useResource } from "../resource.ts";
import { useBlockActions } from "./actions.ts";
import { AddBlock } from "./add-block.tsx";
import { BlockCard } from "./block-card.tsx";
import { BlockDocument } from "./document.ts";
import { useDrag } from "./drag.ts";
import { type Item, listIn, type Place, type Position, toPath } from "./tree.ts";
import { listContactVariables, type VariableChoice } from "./variables.ts";

interface Props {
  /** Its name for people, where a page has several. */
  readonly name?: string;
  readonly blocks: MailBlocks;
  /** Variables of its own, besides those of contacts. */
  readonly own?: readonly VariableChoice[];
  readonly isReadOnly?: boolean;
  /** The server's messages about a path, such as `blocks[2].href`; empty without one. */
  readonly messages: (path: string) => string;
  readonly change: (blocks: MailBlocks) => void;
}

/** The editor of a mail in blocks: a list, in which blocks are added, dragged, moved by keyboard, opened and filled in. */
export default function BlockEditor({ name = "Blocks", blocks, own = [], isReadOnly = false, messages, change }: Props) {
  const id = useId();
  const contact = useContactVariables();
  const variables = [...own, ...contact.filter(({ name }) => !own.some((one) => one.name === name))];
  const latest = useRef(change);
  latest.current = change;
  const mail = useMemo(() => new BlockDocument(blocks, (next) => latest.current(next)), []);
  // At once: later, the person may have typed on.
  useLayoutEffect(() => mail.follow(blocks), [mail, blocks]);
  const root = useRef<HTMLElement>(null);
  const { actions, opened, said, add, drop } = useBlockActions(mail, root);
  const dragging = useDrag(drop);
  const items = mail.items.value;
  const list = (
    <BlockList
      {...{ items, variables, isReadOnly, messages, opened }}
      place={null}
      name="The mail"
      dragged={dragging.key}
      over={dragging.over}
      actions={{ ...actions, drag: (event, item) => dragging.begin(event, { key: item.key, isWide: item.columns !== undefined }) }}
      add={add}
    />
  );
  return (
    <section ref={root} class="block-editor" data-blocks aria-labelledby={`${id}-name`}>
      <div class="bar">
        <strong id={`${id}-name`}>{name}</strong>
        {isReadOnly ? null : (
          <span class="buttons">
            <button type="button" class="quiet" disabled={!mail.canUndo.value} onClick={() => mail.undo()}>
              Undo
            </button>
            <button type="button" class="quiet" disabled={!mail.canRedo.value} onClick={() => mail.redo()}>
              Redo
            </button>
          </span>
        )}
      </div>
      {items.length === 0 ? <p class="soft">This email is empty. Start with a heading or a text.</p> : null}
      {list}
      {isReadOnly ? null : <AddBlock label="Add a block" isNarrow={false} add={(type) => add(type, { place: null, at: items.length })} />}
      <p class="hidden" role="status">
        {said}
      </p>
    </section>
  );
}

// The newest contacts have the custom fields that are in use.
const SAMPLE = 100;

/** The variables of mail to contacts, with the custom fields that the newest of them have. */
function useContactVariables(): readonly VariableChoice[] {
  const { data } = useResource(
    async (signal) => (may("contacts:read") ? (await api.contacts.list({ limit: SAMPLE }, { signal })).data : []),
    [],
  );
  return listContactVariables([...new Set((data ?? []).flatMap(({ customFields }) => Object.keys(customFields)))].sort());
}

interface ListProps extends Pick<Props, "isReadOnly" | "messages"> {
  readonly variables: readonly VariableChoice[];
  readonly items: readonly Item[];
  readonly place: Place;
  readonly name: string;
  readonly opened: number | null;
  readonly dragged: number | null;
  readonly over: Position | null;
  readonly actions: Parameters<typeof BlockCard>[0]["actions"];
  readonly add: (type: MailBlock["type"], at: Position) => void;
}

function BlockList(props: ListProps) {
  const { items, place, name, opened, dragged, over, actions, variables, isReadOnly = false, messages, add } = props;
  const shown = listIn(items, place);
  const isOver = over !== null && over.place?.key === place?.key && over.place?.column === place?.column;
  // The mark stands before the block that would follow.
  const others = shown.filter(({ key }) => key !== dragged);
  const before = isOver ? (others[over.at]?.key ?? "end") : null;
  return (
    <>
      <ol
        class={place === null ? "block-list" : "block-list in-column"}
        data-list={place === null ? "mail" : `${place.key} ${place.column}`}
        aria-label={name}
      >
        {shown.map((item, i) => {
          const path = toPath(items, item.key);
          return (
            <BlockCard
              key={item.key}
              {...{ item, variables, isReadOnly, actions }}
              number={i + 1}
              count={shown.length}
              isOpen={opened === item.key}
              isDragged={dragged === item.key}
              isMarked={before === item.key}
              message={(field) => messages(field === "" ? path : `${path}.${field}`)}
            >
              {item.columns === undefined ? null : (
                <div class="block-columns">
                  {item.columns.map((column, n) => (
                    <div key={n} class="block-column">
                      <BlockList {...props} place={{ key: item.key, column: n }} name={`Column ${n + 1}`} />
                      {isReadOnly ? null : (
                        <AddBlock
                          label={`Add to column ${n + 1}`}
                          isNarrow
                          add={(kind) => add(kind, { place: { key: item.key, column: n }, at: column.length })}
                        />
                      )}
                    </div>
                  ))}
                </div>
              )}
            </BlockCard>
          );
        })}
      </ol>
      {before === "end" ? <div class="drop-mark" aria-hidden="true" /> : null}
    </>
  );
}
