/** The messages of an export, page by page: the next page is read when the one before was taken. */
import { readExportPage } from '../../db/export.ts';
import type { ExportRange, StoredMessage } from '../../db/export.ts';
import type { Reader } from '../reads.ts';

/** Its context was removed in the middle: what was sent so far is cut off, not ended. */
export class ContextGone extends Error {
  override name = 'ContextGone';
}

export async function* pagesOf(
  read: Reader,
  range: Omit<ExportRange, 'after'>,
): AsyncGenerator<StoredMessage[]> {
  for (let after = 0; ;) {
    const from = after;
    const page = await read((_, last) => readExportPage(last, { ...range, after: from }));
    if (page === null) throw new ContextGone('The context was removed while it was exported.');
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.seq;
  }
}
