/** @jsxImportSource preact */
import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { CodeBlock } from "../code-block.tsx";

interface Props {
  readonly slug: string;
  readonly renderedFrom: NonNullable<TemplateDetail["renderedFrom"]>;
}

/** The files that the HTML was rendered from, and how to change them. */
export function SourceFiles({ slug, renderedFrom: { kind, files } }: Props) {
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
