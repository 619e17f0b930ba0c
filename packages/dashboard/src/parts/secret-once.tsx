/** @jsxImportSource preact */
import { CodeBlock } from "./code-block.tsx";

interface Props {
  readonly what: string;
  readonly secret: string;
  readonly done: () => void;
}

/** A secret that the server shows this once. It stays until the person says that it is stored. */
export function SecretOnce({ what, secret, done }: Props) {
  return (
    <section class="card once" role="status">
      <h2>{what}</h2>
      <p class="soft">Store it now. It is not shown again.</p>
      <CodeBlock code={secret} label={what} />
      <div class="buttons end">
        <button type="button" class="primary" onClick={done}>
          I have stored it
        </button>
      </div>
    </section>
  );
}
