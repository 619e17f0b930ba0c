/** @jsxImportSource preact */
import type { LandingPage } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { PageState } from "../parts/agents/page-state.tsx";
import { PageNumbers, SignUps } from "../parts/audience/page-numbers.tsx";
import { sayField } from "../parts/audit/words.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One landing page: where it is, who made it, its numbers, and who has signed up. */
export default function LandingPagePage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const page = useResource((signal) => api.landingPages.get(id, { signal }), [id]);
  return (
    <Page
      title={page.data?.title ?? "Landing page"}
      back={{ href: toHref("/landing-pages"), name: "Landing pages" }}
      about={page.data && <PageState status={page.data.status} />}
      actions={page.data && <Actions page={page.data} reload={page.reload} />}
    >
      <div class="scroll">
        <Loaded from={page}>{(data) => <AboutPage page={data} />}</Loaded>
        <PageNumbers id={id} load={(signal) => api.landingPages.stats(id, {}, { signal })} />
        {may("contacts:read") && page.data?.hasForm ? (
          <SignUps
            id={id}
            load={(cursor, signal) => api.landingPages.submissions(id, { limit: 20, ...(cursor && { cursor }) }, { signal })}
          />
        ) : null}
        <Loaded from={page}>{({ html, blocks }) => <Source html={html} blocks={blocks} />}</Loaded>
      </div>
    </Page>
  );
}

function Actions({ page: { id, title, status, previewUrl }, reload }: { readonly page: LandingPage; readonly reload: () => void }) {
  const isOnline = status === "PUBLISHED";
  const turn = async (): Promise<void> => {
    await (isOnline ? api.landingPages.unpublish(id) : api.landingPages.publish(id));
    toast(isOnline ? "It is offline" : "It is online");
    reload();
  };
  const remove = async (): Promise<void> => {
    await api.landingPages.delete(id);
    toast("Deleted");
    go("/landing-pages");
  };
  return (
    <>
      <a class="button" href={previewUrl} target="_blank" rel="noreferrer">
        Preview
      </a>
      {may("marketplace:write") ? (
        <>
          {isOnline ? (
            <ActionButton label="Take offline" act={turn} />
          ) : (
            <ConfirmButton key="online" label="Put online" question={`Put ${title} online?`} primary act={turn}>
              <p>Everybody can read it. Look at the preview first: the text is the agent's.</p>
            </ConfirmButton>
          )}
          <ConfirmButton label="Delete" question={`Delete the page ${title}?`} danger act={remove}>
            <p>Its address stops working and its numbers go. Contacts stay.</p>
          </ConfirmButton>
        </>
      ) : null}
    </>
  );
}

function AboutPage({ page }: { readonly page: LandingPage }) {
  const { url, status, createdBy, runId, listId, leadMagnetId, form, seo, version, createdAt, publishedAt, updatedAt } = page;
  const { activationId } = createdBy;
  return (
    <section class="card">
      <h2>About this page</h2>
      <Facts
        facts={[
          [
            "Address",
            status === "PUBLISHED" ? (
              <a key="url" href={url} target="_blank" rel="noreferrer">
                {url}
              </a>
            ) : (
              `${url}, once it is online`
            ),
          ],
          ["Made by", activationId && <ObjectLink key="agent" id={activationId} />],
          ["In", runId && activationId && <ObjectLink key="run" id={runId} of={activationId} />],
          ["List", listId && <ObjectLink key="list" id={listId} />],
          ["Lead magnet", leadMagnetId && <ObjectLink key="magnet" id={leadMagnetId} />],
          ["Asks for", form && ["email", ...(form.fields ?? []).map(sayField)].join(", ")],
          ["Consent", form?.consentText],
          ["For searches", seo.description],
          ["Version", version],
          ["Made", <Time key="made" at={createdAt} exactly />],
          ["Changed", <Time key="changed" at={updatedAt} exactly />],
          ["Online since", publishedAt && <Time key="online" at={publishedAt} exactly />],
        ]}
      />
    </section>
  );
}

function Source({ html, blocks }: Pick<LandingPage, "html" | "blocks">) {
  return (
    <section class="card">
      <h2>Content</h2>
      {html === null ? (
        <CodeBlock label="The blocks of the page" code={JSON.stringify(blocks, null, 2)} />
      ) : (
        <CodeBlock label="The HTML of the page" code={html} />
      )}
    </section>
  );
}
