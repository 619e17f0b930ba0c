/** @jsxImportSource preact */
import type { LeadMagnet } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import type { Column } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { readBase64 } from "../parts/file-base64.ts";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { formatBytes, Time } from "../parts/time.tsx";
import { go, toHref } from "../router.tsx";

const COLUMNS: readonly Column<LeadMagnet>[] = [
  { head: "Title", width: "3 1 0", cell: ({ title }) => title },
  { head: "File", width: "2 1 0", second: true, cell: ({ fileName }) => <span class="soft">{fileName}</span> },
  { head: "Size", width: "0 0 6rem", wide: true, cell: ({ size }) => <span class="number soft">{formatBytes(size)}</span> },
  { head: "Added", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Files that people get for signing up. */
export default function LeadMagnets() {
  const upload = async (values: FormValues): Promise<void> => {
    const file = values.file("file");
    const { id } = await api.leadMagnets.create({
      fileName: file.name,
      contentBase64: await readBase64(file),
      title: values.text("title"),
      ...values.filled("description"),
    });
    go(`/lead-magnets/${id}`);
  };
  return (
    <ListPage
      title="Lead magnets"
      about="Files that people get for signing up on a landing page."
      actions={
        may("marketplace:write") ? (
          <FormButton label="Upload a file" title="Upload a lead magnet" submit="Upload" primary act={upload}>
            <Field label="File" hint="PDF, EPUB, ZIP, DOCX, PNG, JPEG, MP3 or MP4 of up to 25 MB.">
              <input name="file" type="file" required />
            </Field>
            <Field label="Title" hint="Visitors see it.">
              <input name="title" required maxLength={200} placeholder="The spring guide" autocomplete="off" />
            </Field>
            <Field label="Description">
              <textarea name="description" rows={3} maxLength={2000} />
            </Field>
          </FormButton>
        ) : null
      }
      load={api.leadMagnets.list}
      columns={COLUMNS}
      href={({ id }) => toHref(`/lead-magnets/${id}`)}
      empty="No lead magnets yet"
      start={<p>Upload a guide or a checklist. A landing page can then offer it to everyone who signs up.</p>}
    />
  );
}
