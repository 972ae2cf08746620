// Checks answers against the OpenAPI document: status, content type and body, exactly.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

type Media = { schema?: object };
type Operation = { responses: Record<string, { content?: Record<string, Media> }>; requestBody?: object };

export type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: object } };

export type Contract = {
  document: Document;
  /** Throws where the document does not describe the answer. */
  check(method: string, url: string, answer: { status: number; headers: Record<string, string>; body: unknown }): void;
  /** Operations of which no answer with status 2xx was seen. */
  unseen(): string[];
};

/** The schemas of one document, compiled on first use. */
class Checks {
  readonly document: Document;
  /** `GET /api/jobs`, for every operation. */
  readonly operations: readonly string[];
  // The document is valid: a test of it checks that.
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } });
  readonly #paths: readonly { path: string; pattern: RegExp }[];
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(made: object) {
    this.document = JSON.parse(JSON.stringify(made));
    formats.default(this.#ajv);
    this.#ajv.addSchema(this.document, 'openapi');
    // As a router does: a literal path precedes one with a parameter.
    const open = (path: string): number => path.split('{').length;
    const paths = Object.keys(this.document.paths).toSorted((one, other) => open(one) - open(other));
    this.#paths = paths.map((path) => ({ path, pattern: toPattern(path) }));
    this.operations = paths.flatMap((path) =>
      Object.keys(this.document.paths[path] ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  pathOf(name: string): string | undefined {
    return this.#paths.find(({ pattern }) => pattern.test(name))?.path;
  }

  validate(ref: string, body: unknown, what: string): void {
    const check = this.#compile(ref, what);
    if (!check(body)) {
      const errors = this.#ajv.errorsText(check.errors);
      throw new Error(`${what} is not as described: ${errors}\n${JSON.stringify(body)}`);
    }
  }

  #compile(ref: string, what: string): ValidateFunction {
    const known = this.#compiled.get(ref) ?? this.#ajv.getSchema(ref);
    if (known === undefined) throw new Error(`${what}: there is no schema at ${ref}`);
    this.#compiled.set(ref, known);
    return known;
  }
}

/**
 * The document's operations and bodies are the same for every application (a test checks that): it is made and compiled
 * once a process.
 */
let checks: Checks | null = null;

export function contractOf(make: () => object): Contract {
  const { document, operations } = (checks ??= new Checks(make()));
  const of = checks;
  const seen = new Set<string>();
  return {
    document,
    check(method, url, { status, headers, body }) {
      const path = of.pathOf(url.split('?')[0] ?? url);
      const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
      const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
      if (path === undefined || operation === undefined) {
        if (method === 'HEAD' && body === '') return;
        if (status < 400) throw new Error(`${method} ${url} is not in the document and answered ${status}`);
        of.validate('openapi#/components/schemas/Problem', body, `${method} ${url}`);
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
      const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
      of.validate(`openapi#/${escaped.join('/')}`, body, `${method} ${path} ${status}`);
    },
    unseen: () => operations.filter((one) => !seen.has(one)),
  };
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
}
