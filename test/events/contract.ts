// Checks a stream against the OpenAPI document: the data of each event, exactly.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ReceivedEvent } from './sse-client.ts';

export async function describedBy(
  url: string,
  headers: Record<string, string> = {},
): Promise<(received: readonly ReceivedEvent[]) => void> {
  const document = (await (await fetch(`${url}/api/openapi.json`, { headers })).json()) as object;
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi');
  return (received) => {
    for (const { event, data } of received) {
      const check = ajv.getSchema(`openapi#/components/schemas/${event}Event`);
      if (check === undefined) throw new Error(`the document does not know ${event}`);
      if (check(data) !== true) throw new Error(`${event}: ${ajv.errorsText(check.errors)} ${JSON.stringify(data)}`);
    }
  };
}
