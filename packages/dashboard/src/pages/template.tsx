/** @jsxImportSource preact */
import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Conflict, type Differing } from "../parts/conflict.tsx";
import { Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { History } from "../parts/history.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { ProposedBy } from "../parts/proposed-by.tsx";
import { useResource } from "../parts/resource.ts";
import { splitList } from "../parts/split-list.ts";
import { Tabs } from "../parts/tabs.tsx";
import { isPart, loadAllTemplates } from "../parts/templates/all.ts";
import { TemplateBlocks } from "../parts/templates/blocks-content.tsx";
import { TemplateContent } from "../parts/templates/content.tsx";
import { type Draft, listChanges, nameField, toDraft } from "../parts/templates/draft.ts";
import { type Editing, useEditing } from "../parts/templates/editing.ts";
import { LocalCopy } from "../parts/templates/local-copy.ts";
import { TemplateSettings } from "../parts/templates/settings.tsx";
import { TemplateState } from "../parts/templates/state.tsx";
import { countUsers, sortUsers, type TemplateUser } from "../parts/templates/template-user.ts";
import { listUsers, UsedBy, UserList } from "../parts/templates/users.tsx";
import { TemplateVariables } from "../parts/templates/variables.tsx";
import { TemplateVersions } from "../parts/templates/versions.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, query, setQuery, toHref } from "../router.tsx";

/** Users that are named before a template is deleted. */
const NAMED = 8;

const BACK = { href: toHref("/templates"), name: "Templates" };

/** One template: its editor with a preview that follows, its variables, settings and versions. */
export default function TemplatePage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const template = useResource((signal) => api.templates.get(id, {}, { signal }), [id]);
  if (template.data === null)
    return (
      <Page title="Template" back={BACK}>
        <Loaded from={template}>{() => <Loading />}</Loaded>
      </Page>
    );
  return <Editor loaded={template.data} />;
}

function Editor({ loaded }: { readonly loaded: TemplateDetail }) {
  const editing = useEditing(loaded);
  const { base, draft, isChanged, theirs, refused } = editing;
  const all = useResource(loadAllTemplates, [base.revision]);
  const report = useResource(
    async (signal) =>
      base.kind !== "JSON_BLOCKS" && (base.source.html ?? base.source.text) !== null
        ? api.lint.check({ template: base.id }, { signal })
        : null,
    [base.id, base.revision],
  );
  const chosen = query.value.get("tab") ?? "content";
  const users = listUsers(base.usedBy);
  const tabs = [
    { name: "content", label: "Content" },
    { name: "variables", label: "Variables" },
    { name: "settings", label: "Settings" },
    ...(base.renderedFrom === null ? [] : [{ name: "files", label: "Files", count: Object.keys(base.renderedFrom.files).length }]),
    ...(users.length === 0 ? [] : [{ name: "users", label: "Used by", count: countUsers(users) }]),
    { name: "versions", label: "Versions" },
    ...(may("audit:read") ? [{ name: "history", label: "History" }] : []),
  ];
  // True if a line of the source already shows the engine's message.
  const isAtLine = refused?.details.some(({ line }) => line !== undefined) ?? false;
  return (
    <Page
      title={draft.name || base.slug}
      back={BACK}
      about={
        <>
          <TemplateState template={base} /> {base.type}
          {isChanged ? " · changes are not saved" : ""}
          <ProposedBy proposedBy={base.proposedBy} />
          <UsedBy users={users} />
        </>
      }
      actions={<Actions editing={editing} users={users} />}
    >
      {theirs === null ? null : <TemplateConflict editing={editing} theirs={theirs} />}
      {refused === null || isAtLine ? null : <ErrorNote error={refused} />}
      <Tabs label="The template" tabs={tabs} chosen={chosen} choose={(tab) => setQuery({ tab: tab === "content" ? "" : tab })}>
        {chosen === "content" ? (
          base.kind === "HTML" ? (
            <TemplateContent editing={editing} report={report.data} />
          ) : base.kind === "BLOCKS" ? (
            <TemplateBlocks editing={editing} report={report.data} />
          ) : (
            <Blocks template={base} />
          )
        ) : null}
        {chosen === "variables" ? <TemplateVariables editing={editing} /> : null}
        {chosen === "settings" ? <TemplateSettings editing={editing} all={all.data} /> : null}
        {chosen === "files" && base.renderedFrom !== null ? <SourceFiles slug={base.slug} renderedFrom={base.renderedFrom} /> : null}
        {chosen === "users" ? (
          <div class="scroll">
            <div class="card">
              <UserList users={users} />
            </div>
          </div>
        ) : null}
        {chosen === "versions" ? <TemplateVersions id={base.id} version={base.version} /> : null}
        {chosen === "history" ? <History id={base.id} /> : null}
      </Tabs>
    </Page>
  );
}

function Blocks({ template: { source } }: { readonly template: TemplateDetail }) {
  return (
    <div class="scroll">
      <p class="soft">These blocks are kept for the editor that made them. They are not rendered here, and cannot be sent.</p>
      <CodeBlock label="Blocks" code={JSON.stringify(source.blocks, null, 2)} />
    </div>
  );
}

function Actions({ editing, users }: { readonly editing: Editing; readonly users: readonly TemplateUser[] }) {
  const { base, isChanged, theirs, save, discard } = editing;
  const canPublish = theirs === null && (isChanged || base.hasUnpublishedChanges);
  const sends = !isPart(base) && base.kind !== "JSON_BLOCKS" && base.status === "ACTIVE" && may("transactional:send");
  const canWrite = may("templates:write");
  if (!canWrite) return sends ? <TestSend editing={editing} /> : null;
  return (
    <>
      {isChanged ? <ActionButton label="Discard changes" act={async () => discard()} /> : null}
      {sends ? <TestSend editing={editing} /> : null}
      <ActionButton
        label="Save"
        disabled={!isChanged || theirs !== null}
        act={async () => {
          if (await save()) toast("Saved. Sends use the published version until you publish this one.");
        }}
      />
      <ActionButton
        label="Publish"
        primary
        disabled={!canPublish}
        act={async () => {
          if (await save({ publish: true })) toast("Published");
        }}
      />
      <Archive editing={editing} />
      <Delete template={base} users={users} />
    </>
  );
}

function Archive({ editing: { base, replace } }: { readonly editing: Editing }) {
  const act = async (): Promise<void> => {
    const head = base.status === "ACTIVE" ? await api.templates.archive(base.id) : await api.templates.unarchive(base.id);
    replace({ ...base, ...head });
    toast(head.status === "INACTIVE" ? "Archived" : "Active again");
  };
  if (base.status === "INACTIVE") return <ActionButton label="Activate" act={act} />;
  return (
    <ConfirmButton label="Archive" question="Archive this template?" act={act}>
      <p>It is kept, and cannot be sent until you activate it again.</p>
    </ConfirmButton>
  );
}

function Delete({ template, users }: { readonly template: TemplateDetail; readonly users: readonly TemplateUser[] }) {
  const { stopped, started } = sortUsers(users);
  const act = async (): Promise<void> => {
    await api.templates.delete(template.id);
    new LocalCopy(template.id).forget();
    toast("Deleted");
    go("/templates", { replace: true });
  };
  return (
    <ConfirmButton label="Delete" question={`Delete ${template.name}?`} danger act={act}>
      {template.usedBy.templates.length > 0 ? (
        <p>These templates use it. Take it out of them and publish them first:</p>
      ) : (
        <>
          <p>All of its versions are deleted, and this cannot be undone. Queued emails are sent as they were accepted.</p>
          {stopped.length === 0 ? null : <p>These will no longer be able to send it:</p>}
        </>
      )}
      {stopped.length === 0 ? null : <UserList users={stopped} most={NAMED} />}
      {started.length === 0 ? null : (
        <>
          <p>Campaigns that have started will still finish:</p>
          <UserList users={started} most={NAMED} />
        </>
      )}
    </ConfirmButton>
  );
}

function TestSend({ editing: { base, isChanged, samples, save } }: { readonly editing: Editing }) {
  const act = async (values: FormValues): Promise<void> => {
    const to = splitList(values.text("to"));
    if (isChanged && may("templates:write") && !(await save())) throw new Error("The changes could not be saved.");
    await api.templates.test(base.id, { to, variables: samples, ...values.filled("from") });
    toast(to.length === 1 ? `Sent to ${to[0]}` : `Sent to ${to.length} addresses`);
  };
  return (
    <FormButton label="Send a test" title="Send a test" submit={isChanged && may("templates:write") ? "Save and send" : "Send"} act={act}>
      <Field label="Addresses" hint="At most 5. The draft is sent, with the values of the preview.">
        <input name="to" required placeholder="you@example.com" autocomplete="email" spellcheck={false} />
      </Field>
      <Field label="From" hint={base.from === null ? "The template names no sender." : `Without one: ${base.from}`}>
        <input name="from" required={base.from === null} placeholder="Acme <hello@acme.example>" spellcheck={false} />
      </Field>
    </FormButton>
  );
}

interface SourceProps {
  readonly slug: string;
  readonly renderedFrom: NonNullable<TemplateDetail["renderedFrom"]>;
}

/** The files that the HTML was rendered from, and how to change them. */
function SourceFiles({ slug, renderedFrom: { kind, files } }: SourceProps) {
  return (
    <div class="scroll">
      <p class="soft">
        {kind === "mjml" ? "MJML" : "React Email"} is rendered on the machine that pushes it. These commands fetch the files, and push them
        again after a change:
      </p>
      <CodeBlock
        label="Commands that fetch and push the files"
        code={`mailsvc templates pull ${slug}\nmailsvc templates push ${slug} --publish`}
      />
      {Object.entries(files).map(([path, text]) => (
        <section key={path} class="card">
          <h2>
            <code>{path}</code>
          </h2>
          <CodeBlock label={path} code={text} />
        </section>
      ))}
    </div>
  );
}

/** Somebody else has stored another version of the template meanwhile. */
function TemplateConflict({
  editing: { draft, keepMine, takeTheirs },
  theirs,
}: {
  readonly editing: Editing;
  readonly theirs: TemplateDetail;
}) {
  return (
    <Conflict
      what="template"
      at={theirs.updatedAt}
      differing={listDiffering(toDraft(theirs), draft)}
      takeTheirs={takeTheirs}
      keepMine={keepMine}
    />
  );
}

function listDiffering(theirs: Draft, mine: Draft): Differing[] {
  const names = Object.keys(listChanges(mine, theirs)) as (keyof Draft)[];
  return names.map((name) => ({ name: nameField(name), theirs: formatValue(theirs[name]), mine: formatValue(mine[name]) }));
}

function formatValue(value: Draft[keyof Draft]): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(value, null, 2);
}
