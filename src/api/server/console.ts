/**
 * Serves the console: its built files, and its HTML page, which differs between the routes only in what it loads. The
 * files hold no secrets and need no key; the API requests of the page do.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import serveStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerRefusedFiles, notThere } from './files.ts';
import type { App } from './ports.ts';

/** The routes of the console, each with its page: `web/page-files.ts` writes an HTML file for each of them. */
const PAGES: Readonly<Record<string, string>> = {
  '/': 'chat',
  '/contexts/*': 'chat',
  '/jobs': 'jobs',
  '/jobs/*': 'job',
  '/workers/*': 'tree',
  '/inbox': 'inbox',
  '/schedules': 'schedules',
  '/tenants': 'tenants',
  '/overview': 'overview',
  '/operations': 'operations',
  '/search': 'search',
  '/access': 'access',
  '/settings': 'settings',
};

/** Whether a path, as browsers send it, is that of a page. What follows the `*` has ids and names alone. */
export function isConsolePage(pathname: string): boolean {
  const decoded = decodePath(pathname);
  return Object.keys(PAGES).some((page) => {
    if (!page.endsWith('/*')) return decoded === page;
    const start = page.slice(0, -1);
    return decoded?.startsWith(start) === true && /^[\w-]+(?:\/[\w-]+)*$/.test(decoded.slice(start.length));
  });
}

/** Null: it is malformed. */
function decodePath(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return null;
  }
}

/**
 * Hashes of the style elements that libraries of the console insert: sonner's notices (its element starts empty), the
 * list of Radix Select, and the scroll lock behind dialogs. If an upgrade changes one, the console tests print the new
 * hash.
 */
const STYLES = [
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  "'sha256-StEaX+se6YS7pqjzrzMIA0KaX9zF/8zAhvQXZAe5epY='",
  "'sha256-441zG27rExd4/il+NvIqyL8zFx5XmyNQtE381kSkUJk='",
  "'sha256-nzTgYzXYDNe6BAHiiI7NNlfK8n/auuOAhh2t92YvuXo='",
];

/** Scripts and styles come only from files, except `STYLES`. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  `style-src 'self' ${STYLES.join(' ')}`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const SAFELY = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Nightshift</title>
<h1>The console is not built</h1>
<p>The API is running; see <a href="/docs">its reference</a>.
To get the console, run <code>npm run build</code> in the project folder and restart.</p>
</html>
`;

/** `folder`: the built console; null: not built. */
export async function serveConsole(app: App, folder: string | null): Promise<void> {
  await app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'keyless' };
    });
    page.addHook('onSend', async (_, reply) => {
      reply.headers(SAFELY);
    });
    answerRefusedFiles(page);
    for (const [url, name] of Object.entries(PAGES)) {
      const show = folder === null ? showNotFound(null) : showPage(path.join(folder, 'pages', `${name}.html`));
      page.get(url, { schema: { hide: true } }, (request, reply) =>
        url === '/' || isNavigation(request) ? show(request, reply) : notThere(reply),
      );
    }
    if (folder !== null) await serveFiles(page, folder);
  });
}

/** Whether a browser navigates to a page, as opposed to a program that requests data. */
export function isNavigation({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/** Answers navigation to an unknown address with status 404 and the console page, if it is built. */
export function showNotFound(folder: string | null) {
  return async (_: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.headers({ ...SAFELY, 'cache-control': 'no-store' });
    const html = folder === null ? NOT_BUILT : await readFile(path.join(folder, 'index.html'));
    return reply.code(404).type('text/html; charset=utf-8').send(html);
  };
}

/**
 * The ETag is a hash of the content: all files of a package have the same date, and two versions may have the same
 * size. The file is read for each request, so that a new build is served without a restart.
 */
function showPage(file: string) {
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const html = await readFile(file);
    const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 27)}"`;
    reply.headers({ 'cache-control': 'no-cache', etag });
    const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
    if (known.includes(etag)) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(html);
  };
}

/**
 * Files in `assets/` have a content hash in their names and are cached for a year. The few other files are not cached.
 */
async function serveFiles(page: App, folder: string): Promise<void> {
  await page.register(serveStatic, {
    root: path.join(folder, 'assets'),
    prefix: '/assets/',
    index: false,
    immutable: true,
    maxAge: '365d',
    dotfiles: 'ignore',
    // The build wrote `.br` and `.gz` files beside them.
    preCompressed: true,
    suppressWarning: true,
  });
  for (const name of filesBeside(folder)) {
    page.get(`/${name}`, { schema: { hide: true } }, (_, reply) =>
      reply.sendFile(name, folder, { cacheControl: false, etag: false, lastModified: false }),
    );
  }
}

function filesBeside(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[\w-][\w.-]*$/.test(entry.name) && entry.name !== 'index.html')
    .map(({ name }) => name);
}
