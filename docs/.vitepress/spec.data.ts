import { spec } from './openapi.ts';

/** A data loader of VitePress: the browser gets what it returns, and not the whole document from which that is made. */
export default { load: () => spec };

export declare const data: typeof spec;
