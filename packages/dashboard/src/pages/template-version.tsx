/** @jsxImportSource preact */
import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Difference } from "../parts/editor/difference.tsx";
import { Facts } from "../parts/facts.tsx";
import { HtmlPreview } from "../parts/html-preview.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { formatReplyTo } from "../parts/reply-to.ts";
import { useResource } from "../parts/resource.ts";
import { Subject } from "../parts/subject.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { nameChanges, toDraft } from "../parts/templates/draft.ts";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

const TABS = [
  { name: "difference", label: "Difference to the draft" },
  { name: "preview", label: "Preview" },
  { name: "source", label: "Source" },
];

/** A version that was published: what it looks like, how the draft differs from it, and the way back to it. */
export default function TemplateVersionPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const version = Number(params["version"]);
  const both = useResource(
    async (signal) => {
      const [shown, draft] = await Promise.all([api.templates.get(id, { version }, { signal }), api.templates.get(id, {}, { signal })]);
      return { shown, draft };
    },
    [id, version],
  );
  const [chosen, choose] = useState("difference");
  const { data } = both;
  const isCurrent = data?.draft.version === version;
  return (
    <Page
      title={data === null ? "Version" : `${data.draft.name}, version ${version}`}
      back={{ href: toHref(`/templates/${id}?tab=versions`), name: data?.draft.name ?? "Template" }}
      about={data === null ? null : isCurrent ? "Sends use this version." : `Sends use version ${data.draft.version}.`}
      actions={data !== null && !isCurrent && may("templates:write") ? <Restore template={data.draft} version={version} /> : null}
    >
      <Loaded from={both}>
        {({ shown, draft }) => (
          <Tabs label="The version" tabs={TABS} chosen={chosen} choose={choose}>
            {chosen === "difference" ? <Differences shown={shown} draft={draft} /> : null}
            {chosen === "preview" ? (
              <>
                <p class="preview-subject">
                  <Subject text={shown.subject ?? ""} />
                </p>
                <HtmlPreview html={shown.html ?? ""} />
              </>
            ) : null}
            {chosen === "source" ? <Source shown={shown} /> : null}
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

function Restore({
  template: { id, revision, hasUnpublishedChanges },
  version,
}: {
  readonly template: TemplateDetail;
  readonly version: number;
}) {
  const act = async (): Promise<void> => {
    const restored = await api.templates.rollback(id, { version, revision });
    toast(`Published again, as version ${restored.version}`);
    go(`/templates/${id}`);
  };
  return (
    <ConfirmButton label="Restore" question={`Publish version ${version} again?`} act={act}>
      <p>
        It becomes a new version, and sends use it at once.{" "}
        {hasUnpublishedChanges ? "The draft keeps its unpublished changes." : "The draft becomes this version, too."}
      </p>
    </ConfirmButton>
  );
}

function Differences({ shown, draft }: { readonly shown: TemplateDetail; readonly draft: TemplateDetail }) {
  const names = nameChanges(toDraft(draft), toDraft({ ...draft, ...ofVersion(shown) }));
  const { source: before } = shown;
  const { source: after } = draft;
  if (names.length === 0) return <p class="soft">The draft says the same.</p>;
  return (
    <div class="scroll wide-scroll">
      <p class="soft">Different in the draft: {names.join(", ")}.</p>
      {before.subject === after.subject ? null : (
        <Difference label="Difference of the subject" before={before.subject ?? ""} after={after.subject ?? ""} />
      )}
      {before.html === after.html ? null : (
        <Difference label="Difference of the HTML" before={before.html ?? ""} after={after.html ?? ""} />
      )}
      {before.text === after.text ? null : (
        <Difference label="Difference of the text" before={before.text ?? ""} after={after.text ?? ""} />
      )}
    </div>
  );
}

/** Picks the fields that each version has its own of; name and slug belong to the template. */
function ofVersion({ from, replyTo, layout, source }: TemplateDetail): Pick<TemplateDetail, "from" | "replyTo" | "layout" | "source"> {
  return { from, replyTo, layout, source };
}

function Source({ shown: { from, replyTo, layout, source } }: { readonly shown: TemplateDetail }) {
  return (
    <div class="scroll wide-scroll">
      <Facts
        facts={[
          ["Subject", source.subject],
          ["From", from],
          ["Reply-To", formatReplyTo(replyTo)],
          ["Layout", layout],
        ]}
      />
      {source.html === null ? null : <pre class="text source">{source.html}</pre>}
      {source.text === null ? null : <pre class="text source">{source.text}</pre>}
    </div>
  );
}
