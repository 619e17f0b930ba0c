/** @jsxImportSource preact */
import type { Template } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import type { Column } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useResource } from "../parts/resource.ts";
import { isPart, loadAllTemplates } from "../parts/templates/all.ts";
import { buildStart, TEMPLATE_KINDS } from "../parts/templates/start.ts";
import { TemplateState } from "../parts/templates/state.tsx";
import { Time } from "../parts/time.tsx";
import { go, toHref } from "../router.tsx";

/** Templates, layouts and partials. */
export default function Templates() {
  // Only layouts and partials are used by others.
  const [hasParts, setHasParts] = useState(false);
  const all = useResource(async (signal) => (hasParts ? loadAllTemplates(signal) : []), [hasParts]);
  const load = async (query: NonNullable<Parameters<typeof api.templates.list>[0]>, options: { readonly signal: AbortSignal }) => {
    const page = await api.templates.list(query, options);
    if (page.data.some(isPart)) setHasParts(true);
    return page;
  };
  const create = async (values: FormValues): Promise<void> => {
    const type = values.text("type") as Template["type"];
    const { id } = await api.templates.create({ name: values.text("name"), type, ...buildStart(type, values.text("kind") === "BLOCKS") });
    go(`/templates/${id}`);
  };
  return (
    <ListPage
      title="Templates"
      about="Subjects and content for your mail, with variables that are filled in for each person."
      actions={may("templates:write") ? <NewTemplate create={create} /> : null}
      filters={[
        { name: "search", label: "Search", example: "Name or description" },
        { name: "type", label: "Kind", options: TEMPLATE_KINDS },
        {
          name: "status",
          label: "State",
          options: [
            { value: "ACTIVE", text: "active" },
            { value: "INACTIVE", text: "archived" },
          ],
        },
      ]}
      load={load}
      columns={listColumns(all.data)}
      href={({ id }) => toHref(`/templates/${id}`)}
      empty="No templates yet"
      start={
        <>
          <p>Write one here, or push those of a folder, as MJML, React Email or HTML:</p>
          <CodeBlock label="A command that pushes templates" code="mailsvc templates push --dir templates --publish" />
        </>
      }
      none="No template fits these filters"
    />
  );
}

function listColumns(all: readonly Template[] | null): readonly Column<Template>[] {
  return [
    { head: "Name", width: "3 1 0", cell: ({ name }) => name },
    { head: "Slug", width: "2 1 0", wide: true, cell: ({ slug }) => <code class="soft">{slug}</code> },
    { head: "Kind", width: "0 0 7rem", wide: true, cell: ({ type }) => <span class="soft">{type}</span> },
    { head: "Used by", width: "0 0 8rem", wide: true, cell: (template) => <span class="soft">{countUsers(template, all)}</span> },
    { head: "State", width: "0 0 9.5rem", cell: (template) => <TemplateState template={template} /> },
    { head: "Changed", width: "0 0 6.5rem", wide: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ];
}

function countUsers(template: Template, all: readonly Template[] | null): string {
  if (!isPart(template) || all === null) return "";
  const count = all.filter(({ uses }) => uses.includes(template.slug)).length;
  return count === 0 ? "nothing yet" : `${count} ${count === 1 ? "template" : "templates"}`;
}

function NewTemplate({ create }: { readonly create: (values: FormValues) => Promise<void> }) {
  return (
    <FormButton label="New template" title="New template" submit="Create" primary act={create}>
      <Field label="Name">
        <input name="name" required maxLength={200} placeholder="Order shipped" autocomplete="off" />
      </Field>
      <Field label="Written as" hint="Blocks need no HTML. Layouts and partials are HTML.">
        <select name="kind">
          <option value="HTML">HTML</option>
          <option value="BLOCKS">Blocks</option>
        </select>
      </Field>
      <Field label="Kind" hint="A layout stands around other templates, a partial inside of them. Neither is sent itself.">
        <select name="type">
          {TEMPLATE_KINDS.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
      </Field>
    </FormButton>
  );
}
