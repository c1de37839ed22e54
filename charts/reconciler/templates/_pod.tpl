{{/*
The pod of the controller, of a run by the backstop and of `helm test`: the same but for what it
does. Takes root, component, args and resources; restartPolicy, extra parts of the pod (`pod`) and of
its container (`container`) where they differ.
*/}}
{{- define "reconciler.podSpec" -}}
{{- $values := .root.Values -}}
{{- $config := or $values.config.runners $values.config.routes -}}
serviceAccountName: {{ include "reconciler.serviceAccountName" .root | quote }}
# A token only where it is of use: with a kubeconfig, this cluster has nothing to offer.
automountServiceAccountToken: {{ not $values.kubeconfig.secretKey }}
# Else every Service of the namespace would add variables to the environment.
enableServiceLinks: false
{{- with .restartPolicy }}
restartPolicy: {{ . }}
{{- end }}
{{- with .pod }}
{{ toYaml . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
containers:
  - name: {{ .component }}
    image: {{ include "reconciler.image" .root | quote }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    args: {{ toJson .args }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    env:
      {{- include "reconciler.env" .root | nindent 6 }}
    {{- with $values.extraEnvFrom }}
    envFrom:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .container }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    resources:
      {{- toYaml .resources | nindent 6 }}
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
      {{- if $config }}
      # The directory and not single files, which would never see an edit.
      - {name: config, mountPath: /etc/riscv-runners, readOnly: true}
      {{- end }}
      {{- with $values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  # In memory: the keys of a kubeconfig are files here for as long as a run takes.
  - name: tmp
    emptyDir: {medium: Memory, sizeLimit: 64Mi}
  {{- if $config }}
  - name: config
    configMap: {name: {{ include "reconciler.fullname" .root | quote }}}
  {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- range $key, $field := dict "imagePullSecrets" $values.image.pullSecrets "nodeSelector" $values.nodeSelector "tolerations" $values.tolerations "affinity" $values.affinity "priorityClassName" $values.priorityClassName }}
{{- with $field }}
{{ dict $key . | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels of a pod: those that select it win over those that the values add. */}}
{{- define "reconciler.podLabels" -}}
{{- $own := include "reconciler.selectorLabels" .root | fromYaml -}}
{{- $component := dict "app.kubernetes.io/component" .component -}}
{{- merge $own $component .root.Values.podLabels | toYaml -}}
{{- end }}
