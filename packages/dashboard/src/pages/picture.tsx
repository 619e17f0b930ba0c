/** @jsxImportSource preact */
import type { Asset } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { formatBytes, Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One picture of the brand: what it looks like, and its address for mail. */
export default function PicturePage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const asset = useResource((signal) => api.assets.get(id, { signal }), [id]);
  return (
    <Page
      title={asset.data?.fileName ?? "Picture"}
      back={{ href: toHref("/pictures"), name: "Pictures" }}
      actions={asset.data !== null && may("brand:write") ? <Actions asset={asset.data} /> : null}
    >
      <Loaded from={asset}>
        {({ url, alt, fileName, contentType, size, width, height, tags, externalId, createdAt }) => (
          <div class="columns content-first">
            <div class="column">
              <img class="picture" src={`/a/${id}`} alt={alt ?? ""} width={width} height={height} />
              <CodeBlock label="Its address for mail and pages" code={url} />
            </div>
            <aside class="column" aria-label="Details">
              <section class="card">
                <h2>Details</h2>
                <Facts
                  facts={[
                    ["Alternative text", alt ?? "no text"],
                    ["Tags", tags.join(", ")],
                    ["Name", fileName],
                    ["Kind", contentType],
                    ["Pixels", `${width} × ${height}`],
                    ["Size", formatBytes(size)],
                    ["Your own id", externalId],
                    ["Added", <Time key="added" at={createdAt} exactly />],
                  ]}
                />
              </section>
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ asset: { id, fileName } }: { readonly asset: Asset }) {
  const remove = async (): Promise<void> => {
    await api.assets.delete(id);
    toast("Deleted");
    go("/pictures");
  };
  const makeLogo = async (): Promise<void> => {
    await api.brand.update({ logoAssetId: id });
    toast("It is your logo now");
  };
  return (
    <>
      <ActionButton label="Make it the logo" act={makeLogo} />
      <ConfirmButton label="Delete" question={`Delete ${fileName}?`} danger act={remove}>
        <p>It no longer shows in mail and on pages that use it, also in mail that was sent before.</p>
      </ConfirmButton>
    </>
  );
}
