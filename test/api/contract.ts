// Holds answers against the OpenAPI document: status, type of content and body, to the letter.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Media = { schema?: object };
type Operation = { responses: Record<string, { content?: Record<string, Media> }>; requestBody?: object };

export type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: object } };

export type Contract = {
  document: Document;
  /** Throws where the document does not describe the answer. */
  check(
    method: string,
    url: string,
    answer: { status: number; headers: Record<string, string>; body: unknown },
  ): void;
  /** Operations of which no answer with status 2xx was seen. */
  unseen(): string[];
};

export function contractOf(made: object): Contract {
  const document: Document = JSON.parse(JSON.stringify(made));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi');
  // As a router does: a path that says a name goes before one that leaves it open.
  const open = (path: string): number => path.split('{').length;
  const paths = Object.keys(document.paths).toSorted((a, b) => open(a) - open(b));
  const operations = paths.flatMap((path) =>
    Object.keys(document.paths[path] ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const seen = new Set<string>();
  return {
    document,
    check(method, url, { status, headers, body }) {
      const name = url.split('?')[0] ?? url;
      const path = paths.find((one) => one === name) ?? paths.find((one) => toPattern(one).test(name));
      const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
      const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
      if (path === undefined || operation === undefined) {
        if (method === 'HEAD' && body === '') return;
        if (status < 400) throw new Error(`${method} ${url} is not in the document and answered ${status}`);
        validate(ajv, 'openapi#/components/schemas/Problem', body, `${method} ${url}`);
        return;
      }
      const key = `${status}`;
      if (!(key in operation.responses)) throw new Error(`${method} ${path} may not answer ${status}`);
      if (status < 300) seen.add(`${method} ${path}`);
      const content = operation.responses[key]?.content;
      if (content === undefined) {
        if (body !== '') throw new Error(`${method} ${path} answered ${status} with a body`);
        return;
      }
      if (!(type in content)) throw new Error(`${method} ${path} may not answer ${status} as ${type}`);
      const pointer = ['paths', path, method.toLowerCase(), 'responses', key, 'content', type, 'schema'];
      const escaped = pointer.map((part) =>
        encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
      );
      validate(ajv, `openapi#/${escaped.join('/')}`, body, `${method} ${path} ${status}`);
    },
    unseen: () => operations.filter((one) => !seen.has(one)),
  };
}

function validate(ajv: Ajv2020, ref: string, body: unknown, what: string): void {
  const check = ajv.getSchema(ref);
  if (check === undefined) throw new Error(`${what}: there is no schema at ${ref}`);
  if (check(body) !== true) {
    throw new Error(`${what} is not as described: ${ajv.errorsText(check.errors)}\n${JSON.stringify(body)}`);
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
}
