/** A CDK app that prints the context of bin/app.ts and has an empty stack named after the stage: it is synthesized in no time. */
import { App, Stack } from 'aws-cdk-lib';

const app = new App();
const [stage, direct] = ['stage', 'direct'].map((name) => app.node.tryGetContext(name));
console.error(`stage ${stage}, direct ${direct}`);
new Stack(app, `stack-of-${stage}`);
app.synth();
