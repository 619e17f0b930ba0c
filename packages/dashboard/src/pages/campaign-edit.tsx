/** @jsxImportSource preact */
import type { CampaignDetail, Sender, Template } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { AudienceFields } from "../parts/campaigns/audience-fields.tsx";
import { DeleteCampaign, DuplicateCampaign } from "../parts/campaigns/common-actions.tsx";
import { CampaignConflict } from "../parts/campaigns/conflict.tsx";
import { ContentFields } from "../parts/campaigns/content-fields.tsx";
import { DeliveryFields } from "../parts/campaigns/delivery-fields.tsx";
import { CampaignDraft } from "../parts/campaigns/draft.ts";
import { type Group, listIncluded, listNamedGroups, useGroups } from "../parts/campaigns/groups.ts";
import { bindText, SenderFields, SubjectFields } from "../parts/campaigns/message-fields.tsx";
import { CampaignPreview } from "../parts/campaigns/preview.tsx";
import { TestSend } from "../parts/campaigns/test-send.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { findMessages, isShownAtFields } from "../parts/field-messages.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { readAll } from "../parts/page-reader.ts";
import { ProposedBy } from "../parts/proposed-by.tsx";
import { useEvents, useRecovery, useResource } from "../parts/resource.ts";
import { useReturn } from "../parts/return.ts";
import { loadAllTemplates } from "../parts/templates/all.ts";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

// Comparing all contacts of a large workspace takes a second or two, so an import must not cause one count after the other.
const COUNT_MS = 3000;

const BACK = { href: toHref("/campaigns"), name: "Campaigns" };

/** The editor of a draft. It saves itself, and shows next to it what readers will see. */
export default function CampaignEditPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const campaign = useResource((signal) => api.campaigns.get(id, { signal }), [id]);
  useEvents(({ campaignId, type }) => campaignId === id && type.startsWith("campaign."), campaign.reload);
  useReturn(async () => campaign.reload());
  const { data } = campaign;
  const isDraft = data?.status === "DRAFT" && may("campaigns:write");
  useEffect(() => {
    if (data !== null && !isDraft) go(`/campaigns/${id}`, { replace: true });
  }, [data, isDraft]);
  if (data !== null && isDraft) return <Editor key={id} campaign={data} />;
  return (
    <Page title="Campaign" back={BACK}>
      <Loaded from={campaign}>{() => null}</Loaded>
    </Page>
  );
}

const NAMES = [
  "name",
  "subjectLine",
  "previewText",
  "fromEmail",
  "fromName",
  "replyTo",
  "include",
  "exclude",
  "templateId",
  "html",
  "text",
  "blocks",
  "throttle",
  "relay",
  "utm",
  "abTest",
];

function Editor({ campaign }: { readonly campaign: CampaignDetail }) {
  const [draft] = useState(() => new CampaignDraft(campaign));
  useEffect(() => draft.meet(campaign), [draft, campaign]);
  const saved = draft.saved.value;
  const { id } = saved;
  const groups = useGroups();
  const choices = useChoices();
  const audience = useAudience(saved);
  useUnsaved(draft);
  const error = draft.error.value;
  // Saves changes typed while the server was unreachable, once it is back.
  useRecovery(error, () => void draft.flush());
  const known = merge(groups.data ?? [], listNamedGroups(saved));
  const review = async (): Promise<void> => {
    if (await draft.flush()) go(`/campaigns/${id}/review`);
    else toast("Some fields are not saved yet: see what is wrong with them.", { bad: true });
  };
  return (
    <Page
      title={saved.name}
      back={BACK}
      about={
        <>
          <SaveState draft={draft} />
          <ProposedBy proposedBy={saved.proposedBy} />
        </>
      }
      actions={
        <>
          <TestSend campaign={saved} before={() => draft.flush()} />
          <DuplicateCampaign campaign={saved} />
          <DeleteCampaign campaign={saved} />
          <ActionButton label="Review and send" primary act={review} />
        </>
      }
    >
      <CampaignConflict draft={draft} groups={known} />
      <div class="editor">
        <div class="column">
          {error !== null && !isShownAtFields(error, NAMES) && error.code !== "template_error" ? (
            <ErrorNote title="It could not be saved" error={error} retry={() => void draft.flush()} />
          ) : null}
          <section class="card form" aria-label="Name">
            <Field label="Name" hint="For you and your colleagues." error={findMessages(error, "name")}>
              <input {...bindText(draft, "name", { required: true })} maxLength={200} autocomplete="off" />
            </Field>
          </section>
          <AudienceFields draft={draft} groups={known} audience={audience} />
          <SenderFields draft={draft} senders={choices.senders} />
          <SubjectFields draft={draft} templates={choices.templates} />
          <ContentFields draft={draft} templates={choices.templates} />
          <DeliveryFields draft={draft} />
        </div>
        <aside class="column" aria-label="As readers see it">
          <CampaignPreview campaign={saved} isOld={draft.state.value === "refused"} />
        </aside>
      </div>
    </Page>
  );
}

/** All groups, and those that a campaign names but that could not be listed. */
function merge(groups: readonly Group[], named: readonly Group[]): readonly Group[] {
  return [...groups, ...named.filter(({ id }) => !groups.some((group) => group.id === id))];
}

function SaveState({ draft }: { readonly draft: CampaignDraft }) {
  const state = draft.state.value;
  return (
    <span class="soft" role="status">
      Draft · {state === "saved" ? "Saved" : state === "saving" ? "Saving…" : "Not saved"}
    </span>
  );
}

/** The senders and templates that a person can choose. */
function useChoices(): { readonly senders: readonly Sender[]; readonly templates: readonly Template[] } {
  const { data } = useResource(async (signal) => {
    const [senders, templates] = await Promise.all([
      may("senders:read") ? readAll<Sender>((page) => api.senders.list({ ...page, status: "VERIFIED" }, { signal })) : [],
      may("templates:read") ? loadAllTemplates(signal) : [],
    ]);
    return { senders, templates };
  }, []);
  return data ?? { senders: [], templates: [] };
}

/** Counts the people who would get it now, again when the audience or the contacts change. */
function useAudience(saved: CampaignDetail) {
  const { id, recipientType, exclude } = saved;
  const audience = useResource(
    (signal) => api.campaigns.audience(id, { signal }),
    [id, recipientType, JSON.stringify([listIncluded(saved), exclude])],
  );
  useEvents(({ type }) => /^(?:contact\.(?!tracked)|list\.|segment\.|suppression\.)/.test(type), audience.reload, COUNT_MS);
  return audience;
}

/** Saves what was typed when the person leaves the page, and asks before the browser closes it unsaved. */
function useUnsaved(draft: CampaignDraft): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (!draft.dirty) return;
      void draft.flush();
      event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => {
      window.removeEventListener("beforeunload", ask);
      if (draft.dirty) void draft.flush();
    };
  }, [draft]);
}
