// Writes the HTML page once for each page of the console, with links to all that this page loads. The API serves them by the
// address, so that a browser need not run the console first to learn what else it needs: over a slow connection that costs
// more than half a second.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin, Rolldown } from 'vite';

const PAGE = /[\\/]web[\\/]src[\\/]pages[\\/](?<name>[\w-]+)[\\/]page\.tsx$/;

export function pageFiles(): Plugin {
  return {
    name: 'page-files',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('The build has no index.html.');
      const html = String(page.source);
      const folder = path.join(dir, 'pages');
      await mkdir(folder, { recursive: true });
      for (const chunk of Object.values(bundle)) {
        const name = chunk.type === 'chunk' ? PAGE.exec(chunk.facadeModuleId ?? '')?.groups?.['name'] : undefined;
        if (chunk.type === 'chunk' && name !== undefined)
          await writeFile(path.join(folder, `${name}.html`), withLinks(html, filesOf(chunk, bundle)));
      }
    },
  };
}

/** What the chunk loads, and itself, at the end: the styles of a page come after those that it shares, as in Vite. */
function filesOf(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): Set<string> {
  const files = new Set<string>();
  const seen = new Set<string>();
  const add = ({ fileName, imports, viteMetadata }: Rolldown.OutputChunk): void => {
    if (seen.has(fileName)) return;
    seen.add(fileName);
    for (const name of imports) {
      const imported = bundle[name];
      if (imported?.type === 'chunk') add(imported);
    }
    for (const style of viteMetadata?.importedCss ?? []) files.add(style);
    files.add(fileName);
  };
  add(chunk);
  return files;
}

/** In the form of the links that the page already has, so that the console does not add them again. */
function withLinks(html: string, files: ReadonlySet<string>): string {
  const links = [...files]
    .map((file) => ({ file, address: `/${file}` }))
    .filter(({ address }) => !html.includes(`"${address}"`))
    .map(({ file, address }) =>
      file.endsWith('.css')
        ? `<link rel="stylesheet" crossorigin href="${address}">`
        : `<link rel="modulepreload" crossorigin href="${address}">`,
    );
  return html.replace('</head>', `${links.map((link) => `  ${link}\n  `).join('')}</head>`);
}
