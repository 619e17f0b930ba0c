import { expect, test } from "vitest";
import { sources } from "./support/sources.ts";

// Comments begin with a noun or a verb: "Fields available in templates.", not "What of a contact templates can show."

const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*)\s*(\S.*)$/;
const CLAUSE = /^(?:What|Who|Whom|Whose|Where|Whether|How|When|Why|Those|Of|Which)\b/;
/** The share of comment lines that may begin with such a clause. A sentence now and then reads best with one. */
const MOST = 0.01;

/** The beginnings of sentences in comments: lines after code, after the opening of a comment, and after the end of a sentence. */
function listBeginnings(text: string): { readonly line: number; readonly words: string }[] {
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    const words = COMMENT.exec(line)?.[1];
    const before = COMMENT.exec(lines[i - 1] ?? "")?.[1];
    return words === undefined || (before !== undefined && !/[.:]\s*$/.test(before)) ? [] : [{ line: i + 1, words }];
  });
}

/** The folder whose share counts: a package, or one at the top. */
const folderOf = (path: string): string => /^(?:packages\/[^/]+|[^/]+)/.exec(path)?.[0] ?? path;

const written = [...sources].filter(([path]) => !path.includes(".generated."));
const folders = [...new Set(written.map(([path]) => folderOf(path)))].filter((folder) => !folder.includes("."));

test.each(folders)("comments of %s begin with a noun or a verb", (folder) => {
  const files = written.filter(([path]) => folderOf(path) === folder);
  const lines = files.flatMap(([, text]) => text.split("\n").filter((line) => COMMENT.test(line))).length;
  const clauses = files.flatMap(([path, text]) =>
    listBeginnings(text).flatMap(({ line, words }) => (CLAUSE.test(words) ? [`${path}:${line} ${words}`] : [])),
  );
  expect(clauses.length <= Math.max(1, lines * MOST) ? [] : clauses).toEqual([]);
});
