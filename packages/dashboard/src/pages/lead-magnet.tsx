/** @jsxImportSource preact */
import type { LeadMagnet } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { PageState } from "../parts/agents/page-state.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { formatBytes, Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One file that people get for signing up, and the pages that offer it. */
export default function LeadMagnetPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const magnet = useResource((signal) => api.leadMagnets.get(id, { signal }), [id]);
  return (
    <Page
      title={magnet.data?.title ?? "Lead magnet"}
      back={{ href: toHref("/lead-magnets"), name: "Lead magnets" }}
      actions={magnet.data && <Actions magnet={magnet.data} />}
    >
      <div class="scroll">
        <Loaded from={magnet}>
          {({ description, fileName, contentType, size, sha256, createdAt }) => (
            <section class="card">
              <h2>The file</h2>
              <Facts
                facts={[
                  ["Description", description],
                  ["Name", fileName],
                  ["Kind", contentType],
                  ["Size", formatBytes(size)],
                  ["Added", <Time key="added" at={createdAt} exactly />],
                  ["SHA-256", <code key="sum">{sha256}</code>],
                ]}
              />
            </section>
          )}
        </Loaded>
        <OfferedBy id={id} />
      </div>
    </Page>
  );
}

function Actions({ magnet: { id, title, downloadUrl } }: { readonly magnet: LeadMagnet }) {
  const remove = async (): Promise<void> => {
    await api.leadMagnets.delete(id);
    toast("Deleted");
    go("/lead-magnets");
  };
  return (
    <>
      <a class="button" href={downloadUrl} download>
        Download
      </a>
      {may("marketplace:write") ? (
        <ConfirmButton label="Delete" question={`Delete ${title}?`} danger act={remove}>
          <p>Its download links stop working. Pages that offer it stay online without it.</p>
        </ConfirmButton>
      ) : null}
    </>
  );
}

/** Landing pages that offer the file, of the latest 100. */
function OfferedBy({ id }: { readonly id: string }) {
  const pages = useResource(
    async (signal) => (await api.landingPages.list({ limit: 100 }, { signal })).data.filter(({ leadMagnetId }) => leadMagnetId === id),
    [id],
  );
  return (
    <section class="card">
      <h2>Pages that offer it</h2>
      <Loaded from={pages}>
        {(all) =>
          all.length === 0 ? (
            <p class="soft">No page offers it yet. Ask an agent that makes pages to use it.</p>
          ) : (
            <ul class="items">
              {all.map(({ id: page, title, status }) => (
                <li key={page} class="what">
                  <ObjectLink id={page} name={title} />
                  <PageState status={status} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
