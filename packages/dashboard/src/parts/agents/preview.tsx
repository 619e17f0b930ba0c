/** @jsxImportSource preact */
import type { Message } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { Loaded } from "../loaded.tsx";
import { useResource } from "../resource.ts";
import { formatBytes } from "../time.tsx";

type Shown = NonNullable<NonNullable<Message["approval"]>["preview"]>;

const KINDS: Readonly<Record<Shown["kind"], string>> = {
  landing_page: "Landing page",
  lead_magnet: "Lead magnet",
  asset: "Image",
  text: "Text",
};

/** Subject of a request for approval. Text is shown as written, never as HTML. */
export function Preview({ preview }: { readonly preview: Shown }) {
  const { kind, id, text } = preview;
  return (
    <figure class="preview">
      <figcaption class="soft">{KINDS[kind]}</figcaption>
      {text === undefined ? null : <p class="said">{text}</p>}
      {id === undefined ? null : <Named kind={kind} id={id} />}
    </figure>
  );
}

/** Something that the agent has stored in the workspace. */
function Named({ kind, id }: { readonly kind: Shown["kind"]; readonly id: string }) {
  const found = useResource((signal) => describe(kind, id, signal), [kind, id]);
  return (
    <Loaded from={found}>
      {({ name, about, url }) => (
        <p>
          <strong>{name}</strong> <span class="soft">{about}</span>{" "}
          {url === null ? null : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              Open
            </a>
          )}
        </p>
      )}
    </Loaded>
  );
}

interface Described {
  readonly name: string;
  readonly about: string;
  readonly url: string | null;
}

async function describe(kind: Shown["kind"], id: string, signal: AbortSignal): Promise<Described> {
  if (kind === "landing_page") {
    const { title, status, url, previewUrl } = await api.landingPages.get(id, { signal });
    return { name: title, about: status.toLowerCase(), url: status === "PUBLISHED" ? url : previewUrl };
  }
  if (kind === "lead_magnet") {
    const { title, fileName, size, downloadUrl } = await api.leadMagnets.get(id, { signal });
    return { name: title, about: `${fileName}, ${formatBytes(size)}`, url: downloadUrl };
  }
  const { fileName, width, height, url } = await api.assets.get(id, { signal });
  return { name: fileName, about: `${width} × ${height}`, url };
}
