//! The table of methods.

use super::{
    super::{artifact, computer, file, resource, shell, tool},
    ConnectionSide::{Provider, Runtime},
    EmptyObject,
    Family::{Artifacts, Computer, Fileops, Resources, Shell, Tools},
    MethodAccess::{Read, Write},
    MethodInfo, RelayMethod, WireType,
};

/// Declares the methods: a type and a table row for each.
macro_rules! methods {
    ($($method:ident = $name:literal $family:ident $requested_by:ident $access:ident $params:ty => $result:ty;)*) => {
        /// All methods.
        pub static METHODS: [MethodInfo; 36] = [$(row::$method),*];

        mod row {
            use super::*;
            $(
                #[expect(non_upper_case_globals, reason = "the name of its method")]
                pub(super) const $method: MethodInfo = MethodInfo {
                    name: $name,
                    family: $family,
                    requested_by: $requested_by,
                    access: $access,
                    params: WireType::new::<$params>(),
                    result: WireType::new::<$result>(),
                };
            )*
        }

        $(
            #[doc = concat!("`", $name, "`.")]
            #[derive(Debug)]
            pub enum $method {}

            impl RelayMethod for $method {
                const INFO: &'static MethodInfo = &row::$method;
                type Params = $params;
                type Result = $result;
            }
        )*
    };
}

methods! {
    FileRead             = "file.read"              Fileops   Runtime  Read  file::ReadFile             => file::FileContent;
    FileWrite            = "file.write"             Fileops   Runtime  Write file::WriteFile            => file::WriteFileResult;
    FileList             = "file.list"              Fileops   Runtime  Read  file::ListFiles            => file::DirectoryListing;
    FileStat             = "file.stat"              Fileops   Runtime  Read  file::StatFile             => file::FileStat;
    FileMkdir            = "file.mkdir"             Fileops   Runtime  Write file::MakeDirectory        => file::MakeDirectoryResult;
    FileDelete           = "file.delete"            Fileops   Runtime  Write file::DeleteFile           => file::DeleteFileResult;
    FileSearch           = "file.search"            Fileops   Runtime  Read  file::SearchFiles          => file::SearchSummary;
    FileWatch            = "file.watch"             Fileops   Runtime  Read  file::WatchFiles           => file::WatchStarted;
    ShellStart           = "shell.start"            Shell     Runtime  Write shell::StartCommand        => shell::CommandOutcome;
    ShellInput           = "shell.input"            Shell     Runtime  Write shell::CommandInput        => EmptyObject;
    ShellResize          = "shell.resize"           Shell     Runtime  Write shell::ResizeCommand       => EmptyObject;
    ShellSignal          = "shell.signal"           Shell     Runtime  Write shell::SignalCommand       => EmptyObject;
    ShellCancel          = "shell.cancel"           Shell     Runtime  Write shell::CancelCommand       => EmptyObject;
    ShellStatus          = "shell.status"           Shell     Runtime  Read  shell::InspectCommand      => shell::CommandStatus;
    ToolList             = "tool.list"              Tools     Runtime  Read  EmptyObject                => tool::ToolList;
    ToolRegister         = "tool.register"          Tools     Provider Write tool::ToolList             => tool::ToolsRegistered;
    ToolUnregister       = "tool.unregister"        Tools     Provider Write tool::UnregisterTools      => tool::ToolsUnregistered;
    ToolCall             = "tool.call"              Tools     Runtime  Write tool::CallTool             => tool::ToolCallResult;
    ToolCancel           = "tool.cancel"            Tools     Runtime  Write tool::CancelTool           => EmptyObject;
    ResourceList         = "resource.list"          Resources Runtime  Read  resource::ListResources    => resource::ResourceList;
    ResourceGet          = "resource.get"           Resources Runtime  Read  resource::ResourceRef      => resource::Resource;
    ResourceCreate       = "resource.create"        Resources Runtime  Write resource::CreateResource   => resource::Resource;
    ResourceDispose      = "resource.dispose"       Resources Runtime  Write resource::ResourceRef      => EmptyObject;
    ResourceExportState  = "resource.export_state"  Resources Runtime  Read  resource::ResourceRef      => resource::ResourceState;
    ResourceRestoreState = "resource.restore_state" Resources Runtime  Write resource::RestoreResource  => resource::Resource;
    ComputerStatus       = "computer.status"        Computer  Runtime  Read  EmptyObject                => computer::DesktopStatus;
    ComputerSee          = "computer.see"           Computer  Runtime  Read  computer::TakeSnapshot     => computer::DesktopSnapshot;
    ComputerAct          = "computer.act"           Computer  Runtime  Write computer::PerformAction    => computer::ActionResult;
    ComputerPause        = "computer.pause"         Computer  Runtime  Write computer::ChangeControl    => computer::ControlState;
    ComputerResume       = "computer.resume"        Computer  Runtime  Write computer::ChangeControl    => computer::ControlState;
    ComputerTakeover     = "computer.takeover"      Computer  Runtime  Write computer::ChangeControl    => computer::ControlState;
    ComputerRelease      = "computer.release"       Computer  Runtime  Write computer::ChangeControl    => computer::ControlState;
    ArtifactReserve      = "artifact.reserve"       Artifacts Provider Write artifact::ReserveArtifact  => artifact::ArtifactReservation;
    ArtifactUpload       = "artifact.upload"        Artifacts Provider Write artifact::UploadArtifact   => artifact::UploadProgress;
    ArtifactComplete     = "artifact.complete"      Artifacts Provider Write artifact::CompleteArtifact => EmptyObject;
    ArtifactAbort        = "artifact.abort"         Artifacts Provider Write artifact::AbortArtifact    => EmptyObject;
}
