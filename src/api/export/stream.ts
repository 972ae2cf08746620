/** Reads the messages of an export page by page: the next page is read when the previous one was consumed. */
import { forTenant } from '../../db/connection/tenant-setting.ts';
import { readExportPage, type ExportRange, type StoredMessage } from '../../db/read/messages/export.ts';
import type { Reader } from '../response/reads.ts';

/** The context was deleted during the export: the response breaks off and is incomplete. */
class ContextGone extends Error {
  override name = 'ContextGone';
}

/** Each page is read for the tenant of the request, also if the socket of the response asks for it. */
export async function* pagesOf(read: Reader, range: Omit<ExportRange, 'after'>): AsyncGenerator<StoredMessage[]> {
  for (let after = 0; ;) {
    const from = after;
    const page = await forTenant(range.tenantId, () =>
      read((_, last) => readExportPage(last, { ...range, after: from })),
    );
    if (page === null) throw new ContextGone('The context was deleted during the export.');
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.seq;
  }
}
