/** @jsxImportSource preact */
import type { Asset } from "@mailsvc/sdk/contract";
import { useId, useRef, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { Empty } from "./empty.tsx";
import { ListStates } from "./list-states.tsx";
import { useList } from "./resource.ts";

interface Props {
  readonly label: string;
  readonly take: (asset: Asset) => void;
}

/** Button that opens the pictures of the brand, to choose one. */
export function PictureLibrary({ label, take }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const open = (): void => {
    setOpen(true);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={id} class="library" onClose={() => setOpen(false)}>
        <h2 id={id}>Pictures of your brand</h2>
        {isOpen ? (
          <Pictures
            take={(asset) => {
              take(asset);
              dialog.current?.close();
            }}
          />
        ) : null}
        <div class="buttons end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </dialog>
    </>
  );
}

function Pictures({ take }: { readonly take: (asset: Asset) => void }) {
  const list = useList((cursor, signal) => api.assets.list({ limit: 24, ...(cursor !== undefined && { cursor }) }, { signal }), []);
  return (
    <ListStates list={list} empty={<Empty title="No pictures yet">Upload one: it is kept here.</Empty>}>
      <ul class="pictures">
        {list.items.map((asset) => (
          <li key={asset.id}>
            <button type="button" onClick={() => take(asset)}>
              <img src={`/a/${asset.id}`} alt="" loading="lazy" />
              <span>{asset.alt ?? asset.fileName}</span>
            </button>
          </li>
        ))}
      </ul>
    </ListStates>
  );
}
