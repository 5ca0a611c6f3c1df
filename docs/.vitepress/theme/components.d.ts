declare module '*.vue' {
  const component: import('vue').Component;
  export default component;
}

declare module '*.css';

/** The path of the styles of operations, from the build. */
declare const __OPERATION_STYLES__: string;
