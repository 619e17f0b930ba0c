/** @jsxImportSource preact */
import type { Asset, MailBlock } from "@mailsvc/sdk/contract";
import { BLOCK_LIMITS } from "@mailsvc/sdk/contract/facts";
import { useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { PICTURE_TYPES } from "../../constants.ts";
import { ErrorNote } from "../error-note.tsx";
import { readBase64 } from "../file-base64.ts";
import { PictureLibrary } from "../picture-library.tsx";
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
            accept={PICTURE_TYPES.join(",")}
            onChange={({ currentTarget }) => void upload(currentTarget.files?.[0])}
          />
          <PictureLibrary label="Choose from the library" take={take} />
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

/** The width at which a picture is shown: its own, if the mail is wider. */
function fit({ width }: Asset): Partial<Image> {
  return width < BLOCK_LIMITS.width && width >= 16 ? { width } : { width: undefined };
}
