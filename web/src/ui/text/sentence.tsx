import { Fragment, type ReactNode } from 'react';

/** The names of the gaps in a text: `{key}` is one. */
type GapsOf<Text extends string> = string extends Text
  ? 'the text is not a literal: declare it "as const"'
  : Text extends `${string}{${infer Gap}}${infer Rest}`
    ? Gap | GapsOf<Rest>
    : never;

/** A sentence with elements in it: each `{gap}` of its text is filled. A missing one does not compile. */
export function Sentence<Text extends string>({
  text,
  gaps,
}: {
  text: Text;
  gaps: Readonly<Record<GapsOf<Text>, ReactNode>>;
}) {
  const filled = new Map<string, ReactNode>(Object.entries(gaps));
  // Every second part is the name of a gap.
  const parts = text.split(/[{}]/);
  // oxlint-disable-next-line react/no-array-index-key -- a part is identified by its position
  return parts.map((part, at) => <Fragment key={at}>{at % 2 === 0 ? part : filled.get(part)}</Fragment>);
}
