/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { PICTURE_TYPES } from "../constants.ts";
import { Field } from "../parts/field.tsx";
import { readBase64 } from "../parts/file-base64.ts";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { splitPhrases } from "../parts/split-list.ts";
import { go, toHref } from "../router.tsx";

/** The pictures of the brand. */
export default function Pictures() {
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
    <ListPage
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
      load={api.assets.list}
      entries={(pictures) => (
        <ul class="pictures">
          {pictures.map(({ id, alt, fileName }) => (
            <li key={id}>
              <a class="button" href={toHref(`/pictures/${id}`)}>
                <img src={`/a/${id}`} alt="" loading="lazy" />
                <span>{alt ?? fileName}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      empty="No pictures yet"
      start={<p>Upload your logo first: it can then stand in mail, on pages and in your brand.</p>}
    />
  );
}
