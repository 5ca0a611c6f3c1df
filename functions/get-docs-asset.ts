import { getDocsAssetDeps } from '#shared/deps.ts';
import type { DocsPageAssets } from '#shared/docs-page/assets.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';

const route = docsPageRoutes['get-docs-asset'];

export interface GetDocsAssetDeps extends EndpointDeps {
  readonly assets: DocsPageAssets;
}

/** Returns a file of the reference page. Throws `not_found` for any other name. */
export const handle = async (
  { path }: Request<typeof route>,
  { assets }: GetDocsAssetDeps,
): Promise<ResponseOf<typeof route>> => {
  const asset = await assets.find(path.file);
  if (asset === undefined) throw problem('not_found');
  return {
    status: 200,
    headers: {
      'Content-Type': asset.contentType,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
    body: asset.text,
  };
};

export const handler = endpoint(route, handle, getDocsAssetDeps);
