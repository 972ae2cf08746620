/** The API behind this page. */
import { createClient } from 'nightshift/client';

export const client = createClient({ url: globalThis.location.origin });
