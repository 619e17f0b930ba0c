/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { PICTURE_TYPES } from "../constants.ts";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { readBase64 } from "../parts/file-base64.ts";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListStates } from "../parts/list-states.tsx";
import { Page } from "../parts/page.tsx";
import { useList } from "../parts/resource.ts";
import { splitPhrases } from "../parts/split-list.ts";
import { go, toHref } from "../router.tsx";

/** The pictures of the brand. */
export default function Pictures() {
  const list = useList((cursor, signal) => api.assets.list({ limit: 60, ...(cursor && { cursor }) }, { signal }), []);
  const upload = async (values: FormValues): Promise<void> => {
    const file = values.file("file");
    const tags = splitPhrases(values.text("tags"), ",");
    const { id } = await api.assets.create({
      fileName: file.name,
      contentBase64: await readBase64(file),
      ...values.filled("alt"),
      ...(tags.length > 0 && { tags }),
    });
    go(`/pictures/${id}`);
  };
  return (
    <Page
      title="Pictures"
      about="The library of your brand, for campaigns, templates and agents."
      actions={
        may("brand:write") ? (
          <FormButton label="Upload a picture" title="Upload a picture" submit="Upload" primary act={upload}>
            <Field label="File" hint="PNG, JPEG, GIF or WebP of up to 5 MB.">
              <input name="file" type="file" required accept={PICTURE_TYPES.join(",")} />
            </Field>
            <Field label="Text in its place" hint="For readers who do not see it, and mail programs that load no pictures.">
              <input name="alt" maxLength={300} autocomplete="off" />
            </Field>
            <Field label="Tags" hint="Words to find it by, with commas between them.">
              <input name="tags" autocomplete="off" placeholder="logo, spring" />
            </Field>
          </FormButton>
        ) : null
      }
    >
      <div class="scroll">
        <ListStates
          list={list}
          empty={
            <Empty title="No pictures yet">
              <p>Upload your logo first: it can then stand in mail, on pages and in your brand.</p>
            </Empty>
          }
        >
          <ul class="pictures">
            {list.items.map(({ id, alt, fileName }) => (
              <li key={id}>
                <a class="button" href={toHref(`/pictures/${id}`)}>
                  <img src={`/a/${id}`} alt="" loading="lazy" />
                  <span>{alt ?? fileName}</span>
                </a>
              </li>
            ))}
          </ul>
        </ListStates>
      </div>
    </Page>
  );
}
