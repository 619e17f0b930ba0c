/** @jsxImportSource preact */
import type { Asset, MailBlock } from "@mailsvc/sdk/contract";
import { BLOCK_LIMITS } from "@mailsvc/sdk/contract/facts";
import { useId, useRef, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Empty } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import { ListStates } from "../list-states.tsx";
import { useList } from "../resource.ts";
import { useSending } from "../sending.ts";
import { AddressInput } from "./text-inputs.tsx";
import type { VariableChoice } from "./variables.ts";

type Image = Extract<MailBlock, { type: "image" }>;

interface Props {
  readonly block: Image;
  readonly variables: readonly VariableChoice[];
  readonly error: string;
  readonly change: (fields: Partial<Image>) => void;
}

const TYPES = "image/png,image/jpeg,image/gif,image/webp";

/** Chooses a picture: from this machine, which uploads it to the brand's library, from that library, or by its address. */
export function PictureInput({ block: { src, alt }, variables, error, change }: Props) {
  const file = useRef<HTMLInputElement>(null);
  const { busy, error: failure, send } = useSending();
  const take = (asset: Asset): void =>
    change({ src: asset.url, ...(alt === "" && asset.alt !== null && { alt: asset.alt }), ...fit(asset) });
  const upload = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    await send(async () => take(await api.assets.create({ fileName: chosen.name, contentBase64: await readBase64(chosen) })));
    if (file.current) file.current.value = "";
  };
  return (
    <>
      {src === "" ? null : <Thumbnail src={src} />}
      {may("brand:write") ? (
        <div class="buttons">
          <button type="button" class={src === "" ? "primary" : ""} disabled={busy} onClick={() => file.current?.click()}>
            {busy ? "Uploading …" : src === "" ? "Upload a picture" : "Upload another one"}
          </button>
          <input
            ref={file}
            type="file"
            hidden
            aria-label="Picture to upload"
            accept={TYPES}
            onChange={({ currentTarget }) => void upload(currentTarget.files?.[0])}
          />
          <Library take={take} />
        </div>
      ) : null}
      {failure === null ? null : <ErrorNote title="It could not be uploaded" error={failure} />}
      <AddressInput
        label="Address of the picture"
        isPicture
        value={src}
        max={BLOCK_LIMITS.href}
        variables={variables}
        error={error}
        change={(address) => change({ src: address })}
      />
    </>
  );
}

/** The picture, if this server has it: the policy of this page loads no others. */
function Thumbnail({ src }: { readonly src: string }) {
  const path = /\/a\/ast_[0-9a-z]+$/.exec(src)?.[0];
  return path === undefined ? null : <img class="thumbnail" src={path} alt="" />;
}

/** The pictures that were uploaded before. */
function Library({ take }: { readonly take: (asset: Asset) => void }) {
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
        Choose from the library
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

/** The width at which a picture is shown: its own, if the mail is wider. */
function fit({ width }: Asset): Partial<Image> {
  return width < BLOCK_LIMITS.width && width >= 16 ? { width } : { width: undefined };
}

function readBase64(file: File): Promise<string> {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => fail(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}
