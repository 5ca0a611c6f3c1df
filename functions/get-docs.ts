import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { docsRoutes } from '#shared/docs/routes.ts';
import { BUILD_FILE, FIRST_PAGES, MEDIA_TYPES, PLACEHOLDERS, type SiteBuild } from '#shared/docs/site.ts';
import { readEnv, siteFolder } from '#shared/env.ts';
import { endpoint, type Handle, type Request } from '#shared/http/endpoint.ts';
import { problem } from '#shared/problems.ts';

const route = docsRoutes['get-docs'];

type Deps = ReturnType<typeof build>;

/**
 * Returns the base URL of a request: locally the configured one, in Lambda the domain and the stage of the gateway's context. Never that of
 * the Host header, which a caller chooses: the text reaches scripts.
 */
const baseUrlOf = ({ sentPath, domainName, stage }: Request<typeof route>, { env }: Deps): URL => {
  // A custom domain has no stage in its paths.
  const stagePath = `${sentPath}/`.startsWith(`/${stage}/`) ? stage : '';
  return new URL(env.BASE_URL ?? `https://${domainName}/${stagePath}`);
};

/** `quick-start` -> `quick-start.html`; undefined if there is no such file. */
const fileOf = (name: string, { files }: Deps): string | undefined =>
  [name, `${name || 'index'}.html`].find((file) => files.has(file) && extname(file) in MEDIA_TYPES);

const attributeText = (text = ''): string =>
  text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);

const textOf = async (file: string, baseUrl: URL, { folder, env }: Deps): Promise<string> => {
  const base = baseUrl.pathname.replace(/\/$/, '');
  return (await readFile(join(folder, file), 'utf8'))
    .replaceAll(PLACEHOLDERS.base, base)
    .replaceAll(PLACEHOLDERS.address, `${baseUrl.origin}${base}`)
    .replaceAll(PLACEHOLDERS.email, attributeText(env.SUPPORT_EMAIL))
    .replaceAll(PLACEHOLDERS.statusUrl, attributeText(env.STATUS_URL))
    .replaceAll(PLACEHOLDERS.buyerAppUrl, attributeText(env.BUYER_APP_URL));
};

/** Nothing is loaded from another origin. Styles of the theme and of highlighted code are inline. */
const policyOf = ({ scripts }: Deps): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const headersOf = (file: string, deps: Deps) => ({
  'Content-Type': String(MEDIA_TYPES[extname(file)]),
  'X-Content-Type-Options': 'nosniff',
  // The name of a file in assets/ changes with its content. A page names files that the next deploy lacks.
  'Cache-Control': file.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  ...(file.endsWith('.html') && {
    'Content-Security-Policy': policyOf(deps),
    'Referrer-Policy': 'same-origin',
  }),
});

const FOLDERS = new Map<string, string>(
  Object.entries(FIRST_PAGES).map(([folder, page]) => [`/docs/${folder}`, `/docs/${page}`]),
);

/** Returns where another address of a page leads: the root, a folder, or a page with a slash at its end. */
const targetOf = (path: string): string | undefined => {
  if (/^\/?$/.test(path)) return '/docs';
  // Nothing else: //example.com/ would lead to another origin.
  const page = /^\/docs\/./.test(path) ? path.replace(/(?<=[^/])\/+$/, '') : path;
  return FOLDERS.get(page) ?? (page === path ? undefined : page);
};

/** Serves a file of the site. A path without one is a page for a browser and a problem for a program. */
export const handle: Handle<typeof route, Deps> = async (request, deps) => {
  const baseUrl = baseUrlOf(request, deps);
  const base = baseUrl.pathname.replace(/\/$/, '');
  const path = request.sentPath.slice(base.length);
  const target = targetOf(path);
  if (target !== undefined) return { status: 302, headers: { Location: `${base}${target}` } };
  const file = fileOf(path.replace(/^\/docs\/?/, ''), deps);
  if (file !== undefined)
    return { status: 200, headers: headersOf(file, deps), body: await textOf(file, baseUrl, deps) };
  if (!request.acceptsHtml) throw problem('not_found');
  const headers = { ...headersOf('404.html', deps), 'Cache-Control': 'no-store', Vary: 'Accept' };
  return { status: 404, headers, body: await textOf('404.html', baseUrl, deps) };
};

export const build = () => {
  const folder = siteFolder();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file !== BUILD_FILE,
  );
  const { scripts }: SiteBuild = JSON.parse(readFileSync(join(folder, BUILD_FILE), 'utf8'));
  return {
    folder,
    files: new Set(files.map((file) => file.replaceAll(sep, '/'))),
    scripts,
    env: readEnv(['BASE_URL', 'SUPPORT_EMAIL', 'STATUS_URL', 'BUYER_APP_URL']),
  };
};

export const handler = endpoint(route, build, handle);
