/** @jsxImportSource preact */
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import type BlockEditor from "./block-editor.tsx";

type Props = Parameters<typeof BlockEditor>[0];

/** The editor of blocks, which is loaded where it is needed. */
export function LazyBlockEditor(props: Props) {
  const [Editor, setEditor] = useState<FunctionComponent<Props> | null>(null);
  const [failure, setFailure] = useState("");
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let over = false;
    setFailure("");
    import("./block-editor.tsx").then(
      (module) => over || setEditor(() => module.default),
      (cause: unknown) => over || setFailure((cause as Error).message),
    );
    return () => {
      over = true;
    };
  }, [attempt]);
  if (failure !== "") return <ErrorNote title="The editor could not be loaded" text={failure} retry={() => setAttempt((n) => n + 1)} />;
  return Editor === null ? <Loading /> : <Editor {...props} />;
}
